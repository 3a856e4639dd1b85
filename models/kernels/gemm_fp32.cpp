#include "models/kernels/gemm_fp32.hpp"

#include <algorithm>

#include "models/kernels/decode_table.hpp"
#include "models/kernels/gemm_shares.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_fp32.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"
#include "models/kernels/gemm_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// A row-major matrix of codes.
struct CodeSource {
  const float* table;
  const std::uint8_t* code;
  std::size_t columns;

  HWY_INLINE void Row(std::size_t row, std::size_t col, float* out, std::size_t count) const {
    DecodeRow(table, code + row * columns + col, out, count);
  }
};

void GemmFp32Block(const GemmOperands& op, const DecodeTable& a_table, const DecodeTable& b_table,
                   const GemmShare& share, float* c) {
  const std::size_t n = op.n;
  const CodeSource a{a_table.value.data(), op.a.data(), static_cast<std::size_t>(op.k)};
  const CodeSource b{b_table.value.data(), op.b.data(), n};
  GemmTiles<float>::MultiplyBlock(
      {n, static_cast<std::size_t>(op.k), share.row0, share.row1, share.col0, share.col1}, a, b, c);
  for (std::size_t i = share.row0; i < share.row1; ++i) {
    for (std::size_t j = share.col0; j < share.col1; ++j) {
      float& x = c[i * n + j];
      if (x != x) x = fp32_value(formats::fp32.nan_code());
    }
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(GemmFp32Block);

void gemm_fp32(const GemmOperands& operands, std::span<float> c, int threads) {
  if (operands.k == 0) {
    std::fill(c.begin(), c.end(), 0.0F);
    return;
  }
  const DecodeTable a(operands.a_format);
  const DecodeTable b(operands.b_format);
  const auto block = HWY_DYNAMIC_DISPATCH(GemmFp32Block);
  gemm_shares(operands.m, operands.n, threads,
              [&](const GemmShare& share) { block(operands, a, b, share, c.data()); });
}

}  // namespace mantissa::kernels
#endif
