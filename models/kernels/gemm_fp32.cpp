#include "models/kernels/gemm_fp32.hpp"

#include <algorithm>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/kernels/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_fp32.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A register tile of tile_rows x (two vectors) accumulators: 12 x 32 fills AVX-512's 32 registers, 6 x 16
// AVX2's 16.
#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_rows = 12;
#else
constexpr std::size_t tile_rows = 6;
#endif
constexpr std::size_t tile_vectors = 2;
// k is blocked to bound memory; the accumulators are loaded back at each block, never restarted, so the order
// of additions stays that of k. Long blocks, since fetching a tile of C costs more than streaming A and B.
constexpr std::size_t block_k = 512;
// Rows of a packed panel of A stand this far apart: not a multiple of 4 KiB, or all rows would share a cache
// set.
constexpr std::size_t a_stride = block_k + 16;
// Rows of A that are packed at a time stay in the second-level cache; columns of B bound memory.
constexpr std::size_t block_rows = 192;
constexpr std::size_t block_columns = 2048;

using D = hn::ScalableTag<float>;
using V = hn::VFromD<D>;

HWY_INLINE std::size_t TileColumns() { return tile_vectors * hn::Lanes(D()); }

// a: [tile_rows][a_stride], b: [depth][tile columns], c: rows `stride` apart.
template <bool first>
HWY_INLINE void MultiplyTile(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t depth,
                             float* HWY_RESTRICT c, std::size_t stride) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  V acc[tile_rows][tile_vectors];
#pragma GCC unroll 16
  for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < tile_vectors; ++v) {
      acc[r][v] = first ? hn::Zero(d) : hn::LoadU(d, c + r * stride + v * lanes);
    }
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const V b0 = hn::Load(d, b);
    const V b1 = hn::Load(d, b + lanes);
    b += tile_vectors * lanes;
#pragma GCC unroll 16
    for (std::size_t r = 0; r < tile_rows; ++r) {
      const V x = hn::Set(d, a[r * a_stride + k]);
      acc[r][0] = hn::MulAdd(x, b0, acc[r][0]);
      acc[r][1] = hn::MulAdd(x, b1, acc[r][1]);
    }
  }
#pragma GCC unroll 16
  for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < tile_vectors; ++v) hn::StoreU(acc[r][v], d, c + r * stride + v * lanes);
  }
}

// Columns [col0, col0 + columns) of rows k0.. of B, panel by panel, short panels padded with zeros.
HWY_NOINLINE void PackB(const GemmOperands& op, const float* table, std::size_t k0, std::size_t depth,
                        std::size_t col0, std::size_t columns, float* out) {
  const std::size_t width = TileColumns();
  for (std::size_t j = 0; j < columns; j += width) {
    const std::size_t used = std::min(width, columns - j);
    for (std::size_t k = 0; k < depth; ++k, out += width) {
      DecodeRow(table, op.b.data() + (k0 + k) * op.n + col0 + j, out, used);
      std::fill(out + used, out + width, 0.0F);
    }
  }
}

// Rows [row0, row0 + rows), k0.. of A: panels of [tile_rows][a_stride].
HWY_NOINLINE void PackA(const GemmOperands& op, const float* table, std::size_t k0, std::size_t depth,
                        std::size_t row0, std::size_t rows, float* out) {
  for (std::size_t i = 0; i < rows; i += tile_rows) {
    for (std::size_t r = 0; r < tile_rows; ++r, out += a_stride) {
      if (i + r < rows) {
        DecodeRow(table, op.a.data() + (row0 + i + r) * op.k + k0, out, depth);
      } else {
        std::fill(out, out + depth, 0.0F);
      }
    }
  }
}

// One tile at the edge of C goes through a full-size buffer.
template <bool first>
HWY_NOINLINE void MultiplyEdgeTile(const float* a, const float* b, std::size_t depth, float* c,
                                   std::size_t stride, std::size_t rows, std::size_t columns) {
  const std::size_t width = TileColumns();
  HWY_ALIGN float tile[tile_rows * tile_vectors * hn::MaxLanes(D())];
  if (!first) {
    std::fill(tile, tile + tile_rows * width, 0.0F);
    for (std::size_t r = 0; r < rows; ++r)
      std::copy(c + r * stride, c + r * stride + columns, tile + r * width);
  }
  MultiplyTile<first>(a, b, depth, tile, width);
  for (std::size_t r = 0; r < rows; ++r)
    std::copy(tile + r * width, tile + r * width + columns, c + r * stride);
}

template <bool first>
HWY_INLINE void MultiplyBlock(const float* a, const float* b, std::size_t depth, float* c, std::size_t stride,
                              std::size_t rows, std::size_t columns) {
  const std::size_t width = TileColumns();
  for (std::size_t j = 0; j < columns; j += width, b += depth * width) {
    const float* panel = a;
    for (std::size_t i = 0; i < rows; i += tile_rows, panel += tile_rows * a_stride) {
      float* corner = c + i * stride + j;
      if (i + tile_rows <= rows && j + width <= columns) {
        MultiplyTile<first>(panel, b, depth, corner, stride);
      } else {
        MultiplyEdgeTile<first>(panel, b, depth, corner, stride, std::min(tile_rows, rows - i),
                                std::min(width, columns - j));
      }
    }
  }
}

void CanonicalNan(float* c, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (c[i] != c[i]) c[i] = fp32_value(formats::fp32.nan_code());
  }
}

// Rows [row0, row1) and columns [col0, col1) of C.
void GemmFp32Block(const GemmOperands& op, const DecodeTable& a_table, const DecodeTable& b_table, float* c,
                   std::size_t row0, std::size_t row1, std::size_t col0, std::size_t col1) {
  const std::size_t depth_all = op.k;
  const std::size_t width = TileColumns();
  const std::size_t rows_max = std::min(block_rows, (row1 - row0 + tile_rows - 1) / tile_rows * tile_rows);
  const std::size_t columns_max = std::min(block_columns, (col1 - col0 + width - 1) / width * width);
  AlignedBuffer<float> a((rows_max + tile_rows) * a_stride);
  AlignedBuffer<float> b(std::min(block_k, depth_all) * columns_max);
  for (std::size_t j = col0; j < col1; j += block_columns) {
    const std::size_t columns = std::min(block_columns, col1 - j);
    for (std::size_t k = 0; k < depth_all; k += block_k) {
      const std::size_t depth = std::min(block_k, depth_all - k);
      PackB(op, b_table.value.data(), k, depth, j, columns, b.data());
      for (std::size_t i = row0; i < row1; i += block_rows) {
        const std::size_t rows = std::min(block_rows, row1 - i);
        PackA(op, a_table.value.data(), k, depth, i, rows, a.data());
        float* corner = c + i * op.n + j;
        if (k == 0) {
          MultiplyBlock<true>(a.data(), b.data(), depth, corner, op.n, rows, columns);
        } else {
          MultiplyBlock<false>(a.data(), b.data(), depth, corner, op.n, rows, columns);
        }
      }
    }
    for (std::size_t i = row0; i < row1; ++i) CanonicalNan(c + i * op.n + j, columns);
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
  // The longer side is shared out, so that the operand each thread decodes again for itself is the smaller
  // one.
  if (operands.m >= operands.n) {
    parallel_ranges(operands.m, 12, threads, [&](std::int64_t row0, std::int64_t row1) {
      block(operands, a, b, c.data(), row0, row1, 0, operands.n);
    });
  } else {
    parallel_ranges(operands.n, 32, threads, [&](std::int64_t col0, std::int64_t col1) {
      block(operands, a, b, c.data(), 0, operands.m, col0, col1);
    });
  }
}

}  // namespace mantissa::kernels
#endif
