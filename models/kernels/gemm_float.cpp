#include "models/kernels/gemm_float.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "models/kernels/gemm_shares.hpp"
#include "models/kernels/int_output.hpp"
#include "models/kernels/prefetch.hpp"
#include "models/mac/gemm.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_float.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/copy_row-inl.hpp"
#include "models/kernels/fp32_chain-inl.hpp"
#include "models/kernels/gemm_tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// A row-major matrix of FP32 numbers or integers.
template <class Element>
struct PlainSource {
  const Element* element;
  std::size_t columns;

  template <class T>
  HWY_INLINE void Row(std::size_t row, std::size_t col, T* HWY_RESTRICT out, std::size_t count) const {
    const Element* HWY_RESTRICT in = element + row * columns + col;
    if constexpr (std::is_same_v<Element, float> && std::is_same_v<T, float>) {
      // A thin product is bound by what it reads.
      for (std::size_t i = 0; i < count; i += 16) prefetch_next_page(in + i);
      CopyRow(in, out, count);
    } else {
      for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(in[i]);
    }
  }
};

template <class Element>
void MultiplyFp64(const Element* a, const Element* b, std::size_t n, std::size_t k, const GemmShare& share,
                  double* c) {
  GemmTiles<double>::MultiplyBlock({n, k, share.row0, share.row1, share.col0, share.col1},
                                   PlainSource<Element>{a, k}, PlainSource<Element>{b, n}, c);
}

void GemmFp64Block(const FloatOperands& op, const GemmShare& share, double* c) {
  MultiplyFp64(op.a.data(), op.b.data(), op.n, op.k, share, c);
}

void IntegerBlock(const IntGemmOperands& op, const GemmShare& share, double* c) {
  MultiplyFp64(op.a.q.data(), op.b.q.data(), op.n, op.k, share, c);
}

void FinishRow(float* c, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Finished(d, hn::LoadU(d, c + i)), d, c + i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) hn::StoreU(Finished(one, hn::LoadU(one, c + i)), one, c + i);
}

void GemmFloatBlock(const FloatOperands& op, const GemmShare& share, float* c) {
  const auto n = static_cast<std::size_t>(op.n);
  const auto k = static_cast<std::size_t>(op.k);
#if HWY_TARGET <= HWY_AVX2
  GemmTiles<float>::MultiplyBlock({n, k, share.row0, share.row1, share.col0, share.col1},
                                  PlainSource<float>{op.a.data(), k}, PlainSource<float>{op.b.data(), n}, c);
#else
  // Highway does not fuse here.
  for (std::size_t i = share.row0; i < share.row1; ++i) {
    for (std::size_t j = share.col0; j < share.col1; ++j) {
      float sum = 0;
      for (std::size_t l = 0; l < k; ++l) sum = std::fma(op.a[i * k + l], op.b[l * n + j], sum);
      c[i * n + j] = sum;
    }
  }
#endif
  const std::size_t columns = share.col1 - share.col0;
  if (columns == n) {
    FinishRow(c + share.row0 * n, (share.row1 - share.row0) * n);
  } else {
    for (std::size_t i = share.row0; i < share.row1; ++i) FinishRow(c + i * n + share.col0, columns);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {

void check_operands(const FloatOperands& op, std::size_t outputs) {
  check_gemm_sides(op.m, op.n, op.k);
  const auto product = [](std::int64_t x, std::int64_t y) {
    return static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y);
  };
  if (product(op.m, op.k) != op.a.size() || product(op.k, op.n) != op.b.size() ||
      product(op.m, op.n) != outputs) {
    throw std::invalid_argument("a GEMM of " + std::to_string(op.m) + " x " + std::to_string(op.n) + " x " +
                                std::to_string(op.k) + " does not fit " + std::to_string(op.a.size()) + ", " +
                                std::to_string(op.b.size()) + " and " + std::to_string(outputs) +
                                " elements");
  }
}

}  // namespace

HWY_EXPORT(GemmFp64Block);
HWY_EXPORT(GemmFloatBlock);
HWY_EXPORT(IntegerBlock);

void gemm_fp64(const FloatOperands& operands, std::span<double> c, int threads) {
  check_operands(operands, c.size());
  if (operands.k == 0) {
    std::fill(c.begin(), c.end(), 0.0);
    return;
  }
  const auto block = HWY_DYNAMIC_DISPATCH(GemmFp64Block);
  gemm_shares(operands.m, operands.n, threads,
              [&](const GemmShare& share) { block(operands, share, c.data()); });
}

void gemm_float(const FloatOperands& operands, std::span<float> c, int threads) {
  check_operands(operands, c.size());
  if (operands.k == 0) {
    std::fill(c.begin(), c.end(), 0.0F);
    return;
  }
  const auto block = HWY_DYNAMIC_DISPATCH(GemmFloatBlock);
  gemm_shares(operands.m, operands.n, threads,
              [&](const GemmShare& share) { block(operands, share, c.data()); });
}

void int_gemm(const IntGemmOperands& operands, std::span<float> c, int threads) {
  check_int_gemm(operands, c.size());
  const std::int64_t m = operands.m;
  const std::int64_t n = operands.n;
  const std::int64_t k = operands.k;
  const IntMatrix& a = operands.a;
  const IntMatrix& b = operands.b;
  std::vector<std::uint64_t> column_sum(n);
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t col = 0; col < n; ++col) column_sum[col] += b.q[i * n + col];
  }
  const IntOutput ending(k, a, b);
  std::vector<float> column(n);
  for (std::int64_t col = 0; col < n; ++col)
    column[col] = ending.column(static_cast<double>(column_sum[col]));
  // Every partial sum is a whole number below 2^48, int_mac's limit, hence exact in FP64.
  std::vector<double> sums(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
  if (k > 0) {
    const auto block = HWY_DYNAMIC_DISPATCH(IntegerBlock);
    gemm_shares(m, n, threads, [&](const GemmShare& share) { block(operands, share, sums.data()); });
  }
  parallel_ranges(m, 1, threads, [&](std::int64_t row0, std::int64_t row1) {
    for (std::int64_t row = row0; row < row1; ++row) {
      std::uint64_t row_sum = 0;
      for (std::int64_t i = 0; i < k; ++i) row_sum += a.q[row * k + i];
      for (std::int64_t col = 0; col < n; ++col) {
        const double sum = sums[row * n + col];
        if (sum >= 0x1p48) throw std::overflow_error("int_mac: the sum leaves 48 bits");
        c[row * n + col] = ending.output(sum, static_cast<double>(row_sum), column[col]);
      }
    }
  });
}

}  // namespace mantissa::kernels
#endif
