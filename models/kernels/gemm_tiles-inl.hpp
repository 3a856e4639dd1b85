// The blocked matrix product that GEMM kernels share, once per SIMD target: one MulAdd per product in k
// order, in FP32 or FP64. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_GEMM_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_GEMM_TILES_INL
#undef MANTISSA_KERNELS_GEMM_TILES_INL
#else
#define MANTISSA_KERNELS_GEMM_TILES_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "models/kernels/aligned_buffer.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A block of C: rows [row0, row1), columns [col0, col1) of a matrix with n columns, over all of k.
struct TileBlock {
  std::size_t n;
  std::size_t k;
  std::size_t row0, row1;
  std::size_t col0, col1;
};

// k is blocked to bound memory; the accumulators are loaded back at each block, never restarted, so the order
// of additions stays that of k. Long blocks, since fetching a tile of C costs more than streaming A and B.
constexpr std::size_t tile_block_k = 512;
// Rows of a packed panel of A stand this far apart: not a multiple of 4 KiB, or all rows would share a cache
// set.
constexpr std::size_t tile_a_stride = tile_block_k + 16;

// rows x vectors accumulators.
template <class D, std::size_t rows, std::size_t vectors>
struct RegisterTile {
  using T = hn::TFromD<D>;
  using V = hn::VFromD<D>;

  static HWY_INLINE std::size_t Columns() { return vectors * hn::Lanes(D()); }

  // a: [rows][tile_a_stride], b: [depth][Columns()], c: rows `stride` apart.
  template <bool first>
  static HWY_INLINE void Multiply(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::size_t depth,
                                  T* HWY_RESTRICT c, std::size_t stride) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    V acc[rows][vectors];
#pragma GCC unroll 24
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) {
        acc[r][v] = first ? hn::Zero(d) : hn::LoadU(d, c + r * stride + v * lanes);
      }
    }
    for (std::size_t k = 0; k < depth; ++k) {
      V line[vectors];
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) line[v] = hn::Load(d, b + v * lanes);
      b += vectors * lanes;
#pragma GCC unroll 24
      for (std::size_t r = 0; r < rows; ++r) {
        const V x = hn::Set(d, a[r * tile_a_stride + k]);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < vectors; ++v) acc[r][v] = hn::MulAdd(x, line[v], acc[r][v]);
      }
    }
#pragma GCC unroll 24
    for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (std::size_t v = 0; v < vectors; ++v) hn::StoreU(acc[r][v], d, c + r * stride + v * lanes);
    }
  }

  // One tile at the edge of C goes through a full-size buffer.
  template <bool first>
  static HWY_NOINLINE void MultiplyEdge(const T* a, const T* b, std::size_t depth, T* c, std::size_t stride,
                                        std::size_t used_rows, std::size_t used_columns) {
    const std::size_t width = Columns();
    HWY_ALIGN T tile[rows * vectors * hn::MaxLanes(D())];
    if (!first) {
      std::fill(tile, tile + rows * width, T{0});
      for (std::size_t r = 0; r < used_rows; ++r)
        std::copy(c + r * stride, c + r * stride + used_columns, tile + r * width);
    }
    Multiply<first>(a, b, depth, tile, width);
    for (std::size_t r = 0; r < used_rows; ++r)
      std::copy(tile + r * width, tile + r * width + used_columns, c + r * stride);
  }

  // All rows of up to Columns() columns.
  template <bool first>
  static void MultiplyPanel(const T* a, const T* b, std::size_t depth, T* c, std::size_t stride,
                            std::size_t used_rows, std::size_t used_columns) {
    for (std::size_t i = 0; i < used_rows; i += rows, a += rows * tile_a_stride) {
      T* corner = c + i * stride;
      if (i + rows <= used_rows && used_columns == Columns()) {
        Multiply<first>(a, b, depth, corner, stride);
      } else {
        MultiplyEdge<first>(a, b, depth, corner, stride, std::min(rows, used_rows - i), used_columns);
      }
    }
  }
};

// T is what is accumulated: float or double. A source gives elements of an operand as T:
// Row(row, col, out, count).
template <class T>
struct GemmTiles {
  using D = hn::ScalableTag<T>;
#if HWY_TARGET == HWY_SCALAR
  using HalfD = D;
#else
  using HalfD = hn::Half<D>;
#endif

  // 12 x 2 vectors fill AVX-512's 32 registers, 6 x 2 AVX2's 16. Where fewer columns are left, taller tiles
  // of one vector, or of half a one, waste less: the layers of small networks are as thin.
#if HWY_TARGET <= HWY_AVX3
  static constexpr std::size_t rows = 12;
#else
  static constexpr std::size_t rows = 6;
#endif
  using Wide = RegisterTile<D, rows, 2>;
  using Narrow = RegisterTile<D, 2 * rows, 1>;
  using Narrowest = RegisterTile<HalfD, 2 * rows, 1>;

  // Rows of A that are packed at a time stay in the second-level cache, or in the first-level one if a single
  // panel of B meets them; columns of B bound memory.
  static constexpr std::size_t block_rows = 192;
  static std::size_t BlockRows(std::size_t columns) {
    return columns <= Wide::Columns() ? 2 * rows : block_rows;
  }
  static_assert(block_rows % (2 * rows) == 0);
  static constexpr std::size_t block_columns = 2048;

  // Of the panel that takes the first of `left` columns.
  static HWY_INLINE std::size_t PanelColumns(std::size_t left) {
    if (left > Narrow::Columns()) return Wide::Columns();
    return left > Narrowest::Columns() ? Narrow::Columns() : Narrowest::Columns();
  }

  // Columns [col0, col0 + columns) of rows k0.. of B, panel by panel, short panels padded with zeros.
  template <class Source>
  static HWY_NOINLINE void PackB(const Source& source, std::size_t k0, std::size_t depth, std::size_t col0,
                                 std::size_t columns, T* out) {
    for (std::size_t j = 0; j < columns;) {
      const std::size_t width = PanelColumns(columns - j);
      const std::size_t used = std::min(width, columns - j);
      for (std::size_t k = 0; k < depth; ++k, out += width) {
        source.Row(k0 + k, col0 + j, out, used);
        std::fill(out + used, out + width, T{0});
      }
      j += width;
    }
  }

  // Rows [row0, row0 + count), k0.. of A, and zeros up to whole tiles.
  template <class Source>
  static HWY_NOINLINE void PackA(const Source& source, std::size_t k0, std::size_t depth, std::size_t row0,
                                 std::size_t count, T* out) {
    const std::size_t padded = RoundUp(count, 2 * rows);
    for (std::size_t i = 0; i < padded; ++i, out += tile_a_stride) {
      if (i < count) {
        source.Row(row0 + i, k0, out, depth);
      } else {
        std::fill(out, out + depth, T{0});
      }
    }
  }

  template <bool first>
  static HWY_INLINE void MultiplyPanels(const T* a, const T* b, std::size_t depth, T* c, std::size_t stride,
                                        std::size_t used_rows, std::size_t used_columns) {
    for (std::size_t j = 0; j < used_columns;) {
      const std::size_t width = PanelColumns(used_columns - j);
      const std::size_t used = std::min(width, used_columns - j);
      if (width == Wide::Columns()) {
        Wide::template MultiplyPanel<first>(a, b, depth, c + j, stride, used_rows, used);
      } else if (width == Narrow::Columns()) {
        Narrow::template MultiplyPanel<first>(a, b, depth, c + j, stride, used_rows, used);
      } else {
        Narrowest::template MultiplyPanel<first>(a, b, depth, c + j, stride, used_rows, used);
      }
      b += depth * width;
      j += width;
    }
  }

  // One block of C, whose first element is c; k must not be 0.
  template <class SourceA, class SourceB>
  static void MultiplyBlock(const TileBlock& block, const SourceA& source_a, const SourceB& source_b, T* c) {
    const std::size_t rows_max = std::min(block_rows, RoundUp(block.row1 - block.row0, 2 * rows));
    const std::size_t columns_max =
        std::min(block_columns, RoundUp(block.col1 - block.col0, Wide::Columns()));
    AlignedBuffer<T> a(rows_max * tile_a_stride);
    AlignedBuffer<T> b(std::min(tile_block_k, block.k) * columns_max);
    for (std::size_t j = block.col0; j < block.col1; j += block_columns) {
      const std::size_t columns = std::min(block_columns, block.col1 - j);
      for (std::size_t k = 0; k < block.k; k += tile_block_k) {
        const std::size_t depth = std::min(tile_block_k, block.k - k);
        PackB(source_b, k, depth, j, columns, b.data());
        const std::size_t step = BlockRows(columns);
        for (std::size_t i = block.row0; i < block.row1; i += step) {
          const std::size_t used_rows = std::min(step, block.row1 - i);
          PackA(source_a, k, depth, i, used_rows, a.data());
          T* corner = c + i * block.n + j;
          if (k == 0) {
            MultiplyPanels<true>(a.data(), b.data(), depth, corner, block.n, used_rows, columns);
          } else {
            MultiplyPanels<false>(a.data(), b.data(), depth, corner, block.n, used_rows, columns);
          }
        }
      }
    }
  }

 private:
  static constexpr std::size_t RoundUp(std::size_t count, std::size_t unit) {
    return (count + unit - 1) / unit * unit;
  }
};

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
