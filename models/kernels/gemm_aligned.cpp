#include "models/kernels/gemm_aligned.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_aligned.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"
#include "models/kernels/round_tiles-inl.hpp"

#ifndef MANTISSA_KERNELS_GEMM_ALIGNED_ONCE
#define MANTISSA_KERNELS_GEMM_ALIGNED_ONCE
namespace mantissa::kernels {

// What a code contributes: its value, and 2^exponent (0 for zeros, which do not take part in the alignment).
struct OperandTables {
  DecodeTable value;
  DecodeTable binade;
  std::array<bool, 256> finite;

  explicit OperandTables(const Format& format) : value(format), binade(format) {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const std::uint32_t masked = code & format.code_mask();
      const auto field = static_cast<int>((masked & format.magnitude_mask()) >> format.mantissa_bits);
      finite[code] = std::isfinite(value.value[code]);
      binade.value[code] = format.is_zero(masked) ? 0.0F : std::ldexp(1.0F, std::max(field, 1) - format.bias);
    }
  }
};

// The sums that are aligned: the accumulator's own, or those of its chunks.
struct AlignedSums {
  AlignedGroup aligned;
  Format format;
  std::size_t chunk = 0;  // 0: there is no outer accumulator
  Accumulator::Order dealt = Accumulator::Order::ascending;

  explicit AlignedSums(const Accumulator& how)
      : aligned(how.inner ? *how.inner : how.aligned),
        format(how.inner ? how.inner_format : how.format),
        chunk(how.inner ? how.group : 0),
        dealt(how.order) {}

  // The k of each product, as the groups take them.
  std::vector<std::size_t> order(std::size_t depth) const {
    std::vector<std::size_t> all;
    all.reserve(depth);
    const std::size_t step = chunk == 0 ? std::max<std::size_t>(depth, 1) : chunk;
    for (std::size_t first = 0; first < depth; first += step)
      append_chunk(dealt, first, std::min(first + step, depth), all);
    return all;
  }
};

}  // namespace mantissa::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The constants of an accumulator that is aligned. A sum of truncated terms is a whole number of 2^(E-b),
// exact in T.
template <class T>
struct AlignedAdder {
  using D = hn::ScalableTag<T>;
  using V = hn::VFromD<D>;
  Lattice<T> lattice;
  V bits;  // 2^b
  bool nearest;
  bool exact;  // FP32 in float lanes: the sum is already a number of the format

  explicit AlignedAdder(const AlignedSums& sums)
      : lattice(sums.format, Rounding::rtz()),
        bits(hn::Set(D(), std::ldexp(T{1}, sums.aligned.bits))),
        nearest(sums.aligned.nearest),
        exact(sums.format == formats::fp32 && std::is_same_v<T, float>) {}

  // 2^exponent of the accumulator, 0 if it is zero.
  HWY_INLINE V Binade(V acc) const {
    return hn::IfThenZeroElse(hn::Eq(acc, hn::Zero(D())), lattice.Binade(acc));
  }
  HWY_INLINE V Finish(V sum, V largest) const {
    const V value = hn::Mul(sum, hn::Div(largest, bits));
    if (nearest) {
      const V kept = exact ? value : lattice.template Nearest<Mode::rne>(value);
      const V infinity = hn::Set(D(), std::numeric_limits<T>::infinity());
      return hn::IfThenElse(hn::Gt(hn::Abs(kept), lattice.largest), hn::CopySignToAbs(infinity, kept), kept);
    }
    const V kept = exact ? value : lattice.Truncate(value);
    return hn::CopySignToAbs(hn::Min(hn::Abs(kept), lattice.largest), kept);
  }
};

// What an outer accumulator makes of a chunk's sum: rounded to nearest even. In float lanes it is FP32, and
// their own addition does that.
HWY_INLINE VecOf<float> AddChunk(const CarefulStep<Mode::rne>&, VecOf<float> outer, VecOf<float> inner) {
  return hn::Add(outer, inner);
}
HWY_INLINE VecOf<double> AddChunk(const CarefulStep<Mode::rne>& step, VecOf<double> outer,
                                  VecOf<double> inner) {
  const hn::ScalableTag<double> d;
  return step(hn::Set(d, 1.0), inner, outer, hn::Zero(d));
}

template <class T>
struct AlignedTile {
  const T* a;
  const T* a_binade;
  std::size_t a_stride;
  const T* b;
  const T* b_binade;
  std::size_t depth;
  std::size_t group;
  std::size_t chunk;  // 0: there is no outer accumulator
  T* acc;             // [tile_rows][tile columns]
};

// The products of k in [first, end) and the accumulators become these.
template <class T>
HWY_INLINE void RunGroup(const AlignedAdder<T>& adder, const AlignedTile<T>& tile, std::size_t first,
                         std::size_t end, VecOf<T> (&acc)[tile_rows][tile_vectors]) {
  using V = VecOf<T>;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t width = tile_vectors * lanes;
  V largest[tile_rows][tile_vectors];
#pragma GCC unroll 4
  for (auto& row : largest) row[0] = row[1] = hn::Zero(d);
  for (std::size_t k = first; k < end; ++k) {
    const V b0 = hn::Load(d, tile.b_binade + k * width);
    const V b1 = hn::Load(d, tile.b_binade + k * width + lanes);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r) {
      const V a = hn::Set(d, tile.a_binade[r * tile.a_stride + k]);
      largest[r][0] = hn::Max(largest[r][0], hn::Mul(a, b0));
      largest[r][1] = hn::Max(largest[r][1], hn::Mul(a, b1));
    }
  }
  V scale[tile_rows][tile_vectors];
  V sum[tile_rows][tile_vectors];
  const V nothing = hn::Zero(d);
#pragma GCC unroll 4
  for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < tile_vectors; ++v) {
      // Lanes whose products are all zero divide by zero here and are left as they were below, like those
      // that are infinite.
      const V together = hn::Max(largest[r][v], adder.Binade(acc[r][v]));
      const auto unchanged =
          hn::Or(hn::Eq(largest[r][v], nothing), hn::Gt(hn::Abs(acc[r][v]), adder.lattice.largest));
      largest[r][v] = hn::IfThenZeroElse(unchanged, together);
      scale[r][v] = hn::Div(adder.bits, largest[r][v]);
      sum[r][v] = hn::Trunc(hn::Mul(acc[r][v], scale[r][v]));
    }
  }
  for (std::size_t k = first; k < end; ++k) {
    const V b0 = hn::Load(d, tile.b + k * width);
    const V b1 = hn::Load(d, tile.b + k * width + lanes);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r) {
      const V a = hn::Set(d, tile.a[r * tile.a_stride + k]);
      sum[r][0] = hn::Add(sum[r][0], hn::Trunc(hn::Mul(hn::Mul(a, b0), scale[r][0])));
      sum[r][1] = hn::Add(sum[r][1], hn::Trunc(hn::Mul(hn::Mul(a, b1), scale[r][1])));
    }
  }
#pragma GCC unroll 4
  for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
    for (std::size_t v = 0; v < tile_vectors; ++v) {
      const auto unchanged = hn::Eq(largest[r][v], nothing);
      acc[r][v] = hn::IfThenElse(unchanged, acc[r][v], adder.Finish(sum[r][v], largest[r][v]));
    }
  }
}

template <class T>
HWY_NOINLINE void RunTile(const AlignedAdder<T>& adder, const CarefulStep<Mode::rne>& outer,
                          const AlignedTile<T>& tile) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t chunk = tile.chunk == 0 ? tile.depth : tile.chunk;
  for (std::size_t start = 0; start < tile.depth; start += chunk) {
    const std::size_t stop = std::min(start + chunk, tile.depth);
    VecOf<T> acc[tile_rows][tile_vectors];
#pragma GCC unroll 4
    for (auto& row : acc) row[0] = row[1] = hn::Zero(d);
    for (std::size_t first = start; first < stop; first += tile.group)
      RunGroup(adder, tile, first, std::min(first + tile.group, stop), acc);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t v = 0; v < tile_vectors; ++v) {
        T* place = tile.acc + (r * tile_vectors + v) * lanes;
        hn::StoreU(tile.chunk == 0 ? acc[r][v] : AddChunk(outer, hn::LoadU(d, place), acc[r][v]), d, place);
      }
    }
  }
}

// Rows [row0, row1), columns [col0, col1).
template <class T>
void RunBlock(const GemmOperands& op, const GemmOptions& options, const OperandTables& a_tables,
              const OperandTables& b_tables, std::span<float> c, std::size_t row0, std::size_t row1,
              std::size_t col0, std::size_t col1) {
  const AlignedSums sums(options.accumulator);
  const AlignedAdder<T> adder(sums);
  const CarefulStep<Mode::rne> outer(options.accumulator);
  const std::size_t width = tile_vectors * hn::Lanes(hn::ScalableTag<T>());
  const std::size_t depth = op.k;
  const std::size_t group = std::min<std::size_t>(sums.aligned.group, depth);
  const std::size_t chunk = std::min<std::size_t>(sums.chunk, depth);
  const std::vector<std::size_t> order = sums.order(depth);
  AlignedBuffer<T> a(tile_rows * depth);
  AlignedBuffer<T> a_binade(tile_rows * depth);
  AlignedBuffer<T> b(depth * width);
  AlignedBuffer<T> b_binade(depth * width);
  AlignedBuffer<T> acc(tile_rows * width);
  for (std::size_t j = col0; j < col1; j += width) {
    const std::size_t columns = std::min(width, col1 - j);
    bool b_finite = true;
    for (std::size_t k = 0; k < depth; ++k) {
      const std::uint8_t* code = op.b.data() + order[k] * op.n + j;
      for (std::size_t i = 0; i < width; ++i) {
        b_finite = b_finite && (i >= columns || b_tables.finite[code[i]]);
        b.data()[k * width + i] = i < columns ? b_tables.value.value[code[i]] : 0;
        b_binade.data()[k * width + i] = i < columns ? b_tables.binade.value[code[i]] : 0;
      }
    }
    for (std::size_t i = row0; i < row1; i += tile_rows) {
      const std::size_t rows = std::min(tile_rows, row1 - i);
      bool finite = b_finite;
      for (std::size_t r = 0; r < tile_rows; ++r) {
        const std::uint8_t* code = op.a.data() + (i + r) * op.k;
        for (std::size_t k = 0; k < depth; ++k) {
          const std::size_t from = order[k];
          finite = finite && (r >= rows || a_tables.finite[code[from]]);
          a.data()[r * depth + k] = r < rows ? a_tables.value.value[code[from]] : 0;
          a_binade.data()[r * depth + k] = r < rows ? a_tables.binade.value[code[from]] : 0;
        }
      }
      if (!finite) {
        gemm_block(op, options, c, i, i + rows, j, j + columns);
        continue;
      }
      std::fill(acc.span().begin(), acc.span().end(), T{0});
      RunTile<T>(
          adder, outer,
          {a.data(), a_binade.data(), depth, b.data(), b_binade.data(), depth, group, chunk, acc.data()});
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t column = 0; column < columns; ++column) {
          const T sum = acc.data()[r * width + column];
          // -0 becomes +0; chunks of both infinities make a NaN, whose sign would be the processor's.
          c[(i + r) * op.n + j + column] =
              std::isnan(sum) ? fp32_value(formats::fp32.nan_code()) : static_cast<float>(sum) + 0.0F;
        }
      }
    }
  }
}

void GemmAligned(const GemmOperands& op, const GemmOptions& options, const OperandTables& a,
                 const OperandTables& b, std::span<float> c, bool wide, std::size_t row0, std::size_t row1,
                 std::size_t col0, std::size_t col1) {
  if (wide) {
    RunBlock<double>(op, options, a, b, c, row0, row1, col0, col1);
  } else {
    RunBlock<float>(op, options, a, b, c, row0, row1, col0, col1);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(GemmAligned);

// Bits of a sum of a group's products and the accumulator, each below 4 * 2^b quanta.
int sum_bits(const AlignedGroup& aligned) {
  return aligned.bits + 2 + std::bit_width(static_cast<unsigned>(aligned.group) + 1);
}

// Float lanes hold the sum, and its rounding by Lattice, without overflow, and add chunks as the outer
// accumulator does.
bool fits_float(const GemmOperands& operands, const Accumulator& how) {
  const AlignedSums sums(how);
  if (sum_bits(sums.aligned) > std::numeric_limits<float>::digits) return false;
  if (how.inner && how.format != formats::fp32) return false;
  if (sums.format == formats::fp32)
    return true;  // nothing is lost, and Inf is clamped or kept like any overflow
  const int product = operands.a_format.max_exponent() + operands.b_format.max_exponent() + 2;
  const int accumulator =
      std::min(sums.format.max_exponent(),
               product + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(operands.k))));
  const int sum =
      std::max(product, accumulator) + std::bit_width(static_cast<unsigned>(sums.aligned.group) + 1);
  return sums.format.mantissa_bits <= 22 && sum + 23 - sums.format.mantissa_bits <= 126;
}

bool is_aligned(const Accumulator& how) {
  return how.kind == Accumulator::Kind::aligned ||
         (how.inner && how.rounding == Rounding::rne() && how.format.has_inf());
}

}  // namespace

bool gemm_aligned_supports(const GemmOperands& operands, const Accumulator& how) {
  if (!is_aligned(how)) return false;
  const AlignedSums sums(how);
  // Scales 2^(E-b) and 2^(b-E) must be normal FP32 numbers for every largest exponent E that can occur.
  const int least = operands.a_format.min_exponent() + operands.b_format.min_exponent();
  return sum_bits(sums.aligned) <= 53 && least >= -70 && sums.aligned.bits <= 50 && sums.format.has_inf() &&
         sums.format.min_exponent() >= formats::fp32.min_exponent() && exact_in_fp32(operands.a_format) &&
         exact_in_fp32(operands.b_format);
}

void gemm_aligned(const GemmOperands& operands, const GemmOptions& options, std::span<float> c, int threads) {
  if (operands.k == 0) {
    std::fill(c.begin(), c.end(), 0.0F);
    return;
  }
  const OperandTables a(operands.a_format);
  const OperandTables b(operands.b_format);
  const bool wide = !fits_float(operands, options.accumulator);
  const auto block = HWY_DYNAMIC_DISPATCH(GemmAligned);
  parallel_ranges(operands.n, 32, threads, [&](std::int64_t col0, std::int64_t col1) {
    block(operands, options, a, b, c, wide, 0, operands.m, col0, col1);
  });
}

}  // namespace mantissa::kernels
#endif
