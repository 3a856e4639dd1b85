#include "models/kernels/gemm_rounded.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/kernels/parallel.hpp"
#include "models/mac/fp8_mul.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_rounded.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"
#include "models/kernels/panel_draws-inl.hpp"
#include "models/kernels/round_steps-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3
constexpr std::size_t tile_rows = 4;
#else
constexpr std::size_t tile_rows = 2;
#endif
constexpr std::size_t tile_vectors = 2;
constexpr std::size_t wanted_block_k = 256;

template <class T>
HWY_INLINE std::size_t TileColumns() {
  return tile_vectors * hn::Lanes(hn::ScalableTag<T>());
}

// A register tile: tile_rows rows of A, one panel of B, `depth` steps of k.
template <class T>
struct Tile {
  const T* a;
  std::size_t a_stride;
  const T* b;             // [depth][tile columns]
  const T* random;        // per k, or null
  const T* group_random;  // per group, or null
  std::size_t depth;
  std::size_t group;
  T* acc;   // [tile_rows][tile columns], read and written
  T limit;  // magnitudes up to here are what the step can do
};

// Accumulators and the largest magnitude they ever had.
template <class T>
struct TileState {
  using D = hn::ScalableTag<T>;
  using V = hn::VFromD<D>;
  V acc[tile_rows][tile_vectors];
  V peak[tile_rows];

  HWY_INLINE void Load(const T* from) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
#pragma GCC unroll 4
    for (std::size_t r = 0; r < tile_rows; ++r) {
      peak[r] = hn::Zero(d);
#pragma GCC unroll 2
      for (std::size_t v = 0; v < tile_vectors; ++v)
        acc[r][v] = hn::LoadU(d, from + (r * tile_vectors + v) * lanes);
    }
  }
  // Only if nothing went past the limit (or is NaN); says which.
  HWY_INLINE bool StoreIfWithin(T limit, T* to) const {
    const D d;
    const V bound = hn::Set(d, limit);
    bool within = true;
    for (std::size_t r = 0; r < tile_rows; ++r) {
      within = within && hn::AllTrue(d, hn::Le(peak[r], bound));
      for (std::size_t v = 0; v < tile_vectors; ++v)
        within = within && hn::AllTrue(d, hn::Eq(acc[r][v], acc[r][v]));
    }
    if (within) Store(to);
    return within;
  }
  HWY_INLINE void Store(T* to) const {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t v = 0; v < tile_vectors; ++v)
        hn::StoreU(acc[r][v], d, to + (r * tile_vectors + v) * lanes);
    }
  }
};

template <class T>
HWY_INLINE VecOf<T> LoadRandom(const T* random, std::size_t index) {
  const hn::ScalableTag<T> d;
  return random == nullptr ? hn::Zero(d) : hn::LoadU(d, random + index);
}

// One rounding per product.
struct PlainTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    TileState<T> state;
    state.Load(tile.acc);
    const T* HWY_RESTRICT b = tile.b;
    const T* random = S::stochastic ? tile.random : nullptr;
    for (std::size_t k = 0; k < tile.depth; ++k, b += tile_vectors * lanes) {
      const auto b0 = hn::Load(d, b);
      const auto b1 = hn::Load(d, b + lanes);
      const auto r0 = LoadRandom(random, k * tile_vectors * lanes);
      const auto r1 = LoadRandom(random, (k * tile_vectors + 1) * lanes);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
        const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
        state.acc[r][0] = step(a, b0, state.acc[r][0], r0);
        state.acc[r][1] = step(a, b1, state.acc[r][1], r1);
        state.peak[r] = MaxMagnitude(MaxMagnitude(state.peak[r], state.acc[r][0]), state.acc[r][1]);
      }
    }
    return state.StoreIfWithin(tile.limit, tile.acc);
  }

  // With a step that handles everything there is nothing to watch.
  template <class S>
  static HWY_NOINLINE void RunUnwatched(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t v = 0; v < tile_vectors; ++v) {
        T* place = tile.acc + (r * tile_vectors + v) * lanes;
        auto acc = hn::LoadU(d, place);
        for (std::size_t k = 0; k < tile.depth; ++k) {
          const std::size_t column = (k * tile_vectors + v) * lanes;
          const auto random = LoadRandom(S::stochastic ? tile.random : nullptr, column);
          acc = step(hn::Set(d, tile.a[r * tile.a_stride + k]), hn::Load(d, tile.b + column), acc, random);
        }
        hn::StoreU(acc, d, place);
      }
    }
  }
};

// An inner accumulator from +0 over each group, then one rounded addition to the outer.
struct ChunkTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t width = tile_vectors * lanes;
    TileState<T> outer;
    outer.Load(tile.acc);
    const auto one = hn::Set(d, T{1});
    for (std::size_t first = 0; first < tile.depth; first += tile.group) {
      const std::size_t end = std::min(first + tile.group, tile.depth);
      VecOf<T> inner[tile_rows][tile_vectors];
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) inner[r][0] = inner[r][1] = hn::Zero(d);
      for (std::size_t k = first; k < end; ++k) {
        const auto b0 = hn::Load(d, tile.b + k * width);
        const auto b1 = hn::Load(d, tile.b + k * width + lanes);
        const auto r0 = LoadRandom(S::stochastic ? tile.random : nullptr, k * width);
        const auto r1 = LoadRandom(S::stochastic ? tile.random : nullptr, k * width + lanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < tile_rows; ++r) {
          const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
          inner[r][0] = step(a, b0, inner[r][0], r0);
          inner[r][1] = step(a, b1, inner[r][1], r1);
          outer.peak[r] = MaxMagnitude(MaxMagnitude(outer.peak[r], inner[r][0]), inner[r][1]);
        }
      }
      const std::size_t row = first / tile.group * width;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
          const auto random = LoadRandom(S::stochastic ? tile.group_random : nullptr, row + v * lanes);
          outer.acc[r][v] = step(one, inner[r][v], outer.acc[r][v], random);
          outer.peak[r] = MaxMagnitude(outer.peak[r], outer.acc[r][v]);
        }
      }
    }
    return outer.StoreIfWithin(tile.limit, tile.acc);
  }
};

// An exact sum over each group (nothing is lost below the limit), rounded once.
struct FusedTile {
  template <class S>
  static HWY_NOINLINE bool Run(const S& step, const Tile<typename S::T>& tile) {
    using T = typename S::T;
    const hn::ScalableTag<T> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t width = tile_vectors * lanes;
    TileState<T> state;
    state.Load(tile.acc);
    for (std::size_t first = 0; first < tile.depth; first += tile.group) {
      const std::size_t end = std::min(first + tile.group, tile.depth);
      for (std::size_t k = first; k < end; ++k) {
        const auto b0 = hn::Load(d, tile.b + k * width);
        const auto b1 = hn::Load(d, tile.b + k * width + lanes);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < tile_rows; ++r) {
          const auto a = hn::Set(d, tile.a[r * tile.a_stride + k]);
          state.acc[r][0] = hn::MulAdd(a, b0, state.acc[r][0]);
          state.acc[r][1] = hn::MulAdd(a, b1, state.acc[r][1]);
          state.peak[r] = MaxMagnitude(MaxMagnitude(state.peak[r], state.acc[r][0]), state.acc[r][1]);
        }
      }
      const std::size_t row = first / tile.group * width;
#pragma GCC unroll 4
      for (std::size_t r = 0; r < tile_rows; ++r) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < tile_vectors; ++v) {
          const auto random = LoadRandom(S::stochastic ? tile.group_random : nullptr, row + v * lanes);
          state.acc[r][v] = step.Round(state.acc[r][v], random);
          state.peak[r] = MaxMagnitude(state.peak[r], state.acc[r][v]);
        }
      }
    }
    return state.StoreIfWithin(tile.limit, tile.acc);
  }
};

// What every tile of one GEMM shares.
struct Job {
  const GemmOperands& op;
  const GemmOptions& options;
  const DecodeTable& a_table;
  const DecodeTable& b_table;
  float* c;
  std::size_t group;    // roundings come every `group` products
  std::size_t block_k;  // a multiple of the group

  const Accumulator& how() const { return options.accumulator; }
  bool stochastic() const { return how().stochastic(); }
};

template <class T>
void DecodeRowTo(const float* table, const std::uint8_t* code, T* out, std::size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    DecodeRow(table, code, out, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) out[i] = table[code[i]];
  }
}

// Magnitudes up to which a step in these lanes is right.
template <class T>
T SafeLimit(const Job& job) {
  const Format& format = job.how().format;
  double limit = to_double(format.max_code(), format);
  if constexpr (std::is_same_v<T, float>) {
    // Lattice::nearest times the binade must stay finite.
    if (format != formats::fp32) limit = std::min(limit, std::ldexp(1.0, 102 + format.mantissa_bits));
  } else {
    // Every sum is a multiple of the smallest product: below 2^53 of them, doubles lose nothing.
    limit =
        std::min(limit, std::ldexp(1.0, job.op.a_format.min_quantum() + job.op.b_format.min_quantum() + 52));
  }
  return static_cast<T>(limit);
}

// Careful: redoes a block of a plain accumulator whose magnitudes left the fast step's range.
template <Mode mode, class T>
void RunCarefully(const CarefulStep<mode>& step, const Tile<T>& tile) {
  if constexpr (std::is_same_v<T, double>) {
    PlainTile::RunUnwatched(step, tile);
  } else {
    // Through doubles, half a panel at a time: a vector has half as many of them.
    const std::size_t width = TileColumns<float>();
    const std::size_t half = TileColumns<double>();
    std::vector<double> a(tile_rows * tile.depth);
    AlignedBuffer<double> b(tile.depth * half);
    AlignedBuffer<double> random(tile.depth * half);
    AlignedBuffer<double> acc(tile_rows * half);
    for (std::size_t r = 0; r < tile_rows; ++r) {
      for (std::size_t k = 0; k < tile.depth; ++k) a[r * tile.depth + k] = tile.a[r * tile.a_stride + k];
    }
    for (std::size_t j = 0; j < width; j += half) {
      for (std::size_t k = 0; k < tile.depth; ++k) {
        for (std::size_t i = 0; i < half; ++i) {
          b.data()[k * half + i] = tile.b[k * width + j + i];
          random.data()[k * half + i] = tile.random == nullptr ? 0.0 : tile.random[k * width + j + i];
        }
      }
      for (std::size_t r = 0; r < tile_rows; ++r) {
        for (std::size_t i = 0; i < half; ++i) acc.data()[r * half + i] = tile.acc[r * width + j + i];
      }
      PlainTile::RunUnwatched(step, Tile<double>{a.data(), tile.depth, b.data(), random.data(), nullptr,
                                                 tile.depth, tile.group, acc.data(), 0});
      for (std::size_t r = 0; r < tile_rows; ++r) {
        for (std::size_t i = 0; i < half; ++i)
          tile.acc[r * width + j + i] = static_cast<T>(acc.data()[r * half + i]);
      }
    }
  }
}

// Tile rows [row_tile0, row_tile1) of the array, panels [panel0, panel1) of columns.
template <class Shape, class S, Mode mode>
void RunBlock(const Job& job, const std::vector<ColumnPanel>& panels, std::int64_t rows_per_tile,
              std::int64_t row_tile0, std::int64_t row_tile1, std::int64_t panel0, std::int64_t panel1) {
  using T = typename S::T;
  const GemmOperands& op = job.op;
  const Accumulator& how = job.how();
  const S step(how);
  const CarefulStep<mode> careful(how);
  const std::size_t width = TileColumns<T>();
  const std::size_t depth_all = op.k;
  const std::size_t a_stride = depth_all + 16;
  const std::int64_t padded_rows = (rows_per_tile + tile_rows - 1) / tile_rows * tile_rows;
  // Tile rows whose decoded A fits 32 MiB, at least one.
  const std::int64_t tiles_per_block = std::max<std::int64_t>(
      1, (std::int64_t{32} << 20) / static_cast<std::int64_t>(padded_rows * a_stride * sizeof(T)));

  AlignedBuffer<T> a(std::min(tiles_per_block, row_tile1 - row_tile0) * padded_rows * a_stride);
  AlignedBuffer<T> b(depth_all * width);
  AlignedBuffer<T> acc(padded_rows * width);
  const int random_scale = -how.rounding.random_bits - how.format.mantissa_bits;
  const bool per_product = S::stochastic && !std::is_same_v<Shape, FusedTile>;
  const bool per_group = S::stochastic && !std::is_same_v<Shape, PlainTile>;
  const std::int64_t outer_lanes = std::is_same_v<Shape, ChunkTile> ? job.options.draws.lanes : 0;
  PanelDraws<T> product_draws(job.options.draws, 0, how.rounding.random_bits, random_scale);
  PanelDraws<T> group_draws(job.options.draws, outer_lanes, how.rounding.random_bits, random_scale);
  AlignedBuffer<T> random(per_product ? job.block_k * width : 0);
  AlignedBuffer<T> group_random(per_group ? (job.block_k / job.group + 1) * width : 0);
  if (per_product) std::fill(random.span().begin(), random.span().end(), T{0});
  if (per_group) std::fill(group_random.span().begin(), group_random.span().end(), T{0});
  const std::int64_t tiles_across = (op.n + job.options.draws.lanes - 1) / job.options.draws.lanes;
  const T limit = SafeLimit<T>(job);

  for (std::int64_t block = row_tile0; block < row_tile1; block += tiles_per_block) {
    const std::int64_t block_end = std::min(block + tiles_per_block, row_tile1);
    for (std::int64_t row = 0; row < (block_end - block) * padded_rows; ++row) {
      T* out = a.data() + row * a_stride;
      const std::int64_t source = (block + row / padded_rows) * rows_per_tile + row % padded_rows;
      if (row % padded_rows < rows_per_tile && source < op.m) {
        DecodeRowTo(job.a_table.value.data(), op.a.data() + source * op.k, out, depth_all);
      } else {
        std::fill(out, out + depth_all, T{0});
      }
    }
    for (std::int64_t p = panel0; p < panel1; ++p) {
      const ColumnPanel& panel = panels[p];
      for (std::size_t k = 0; k < depth_all; ++k) {
        T* out = b.data() + k * width;
        DecodeRowTo(job.b_table.value.data(), op.b.data() + k * op.n + panel.first, out, panel.columns);
        std::fill(out + panel.columns, out + width, T{0});
      }
      for (std::int64_t row_tile = block; row_tile < block_end; ++row_tile) {
        const std::int64_t row0 = row_tile * rows_per_tile;
        const std::int64_t rows = std::min(rows_per_tile, op.m - row0);
        std::vector<bool> left_range((rows + tile_rows - 1) / tile_rows, false);
        std::fill(acc.span().begin(), acc.span().end(), T{0});
        for (std::size_t k = 0; k < depth_all; k += job.block_k) {
          const std::size_t depth = std::min(job.block_k, depth_all - k);
          const std::uint64_t first_tile = job.options.first_tile + row_tile * tiles_across;
          if (per_product) {
            product_draws.Fill(panel, first_tile, depth_all, k, depth, width, random.data());
          }
          if (per_group) {
            group_draws.Fill(panel, first_tile, how.roundings(op.k), k / job.group,
                             (depth + job.group - 1) / job.group, width, group_random.data());
          }
          for (std::int64_t r = 0; r < rows; r += tile_rows) {
            const Tile<T> tile{a.data() + ((row_tile - block) * padded_rows + r) * a_stride + k,
                               a_stride,
                               b.data() + k * width,
                               per_product ? random.data() : nullptr,
                               per_group ? group_random.data() : nullptr,
                               depth,
                               job.group,
                               acc.data() + r * width,
                               limit};
            if (left_range[r / tile_rows] || Shape::Run(step, tile)) continue;
            if constexpr (std::is_same_v<Shape, PlainTile>) {
              RunCarefully(careful, tile);
            } else {
              left_range[r / tile_rows] = true;
            }
          }
        }
        for (std::int64_t r = 0; r < rows; ++r) {
          float* out = job.c + (row0 + r) * op.n + panel.first;
          for (std::int64_t j = 0; j < panel.columns; ++j) {
            const T value = acc.data()[r * width + j];
            // Adding +0 turns -0 into +0: inside a GEMM a sum that rounds to zero is +0.
            out[j] = value == value ? static_cast<float>(value) + 0.0F : fp32_value(formats::fp32.nan_code());
          }
        }
        for (std::int64_t r = 0; r < rows; r += tile_rows) {
          if (!left_range[r / tile_rows]) continue;
          gemm_block(op, job.options, {job.c, static_cast<std::size_t>(op.m * op.n)}, row0 + r,
                     row0 + std::min<std::int64_t>(r + tile_rows, rows), panel.first,
                     panel.first + panel.columns);
        }
      }
    }
  }
}

template <class Shape, class S, Mode mode>
void RunAll(const Job& job, int threads) {
  const std::int64_t width = static_cast<std::int64_t>(TileColumns<typename S::T>());
  const auto panels = column_panels(job.op.n, width, job.stochastic() ? job.options.draws.lanes : 0);
  // Without random numbers the array's shape does not matter, and longer tile rows decode less often.
  const std::int64_t rows_per_tile = job.stochastic() ? job.options.rows : 64;
  const std::int64_t row_tiles = (job.op.m + rows_per_tile - 1) / rows_per_tile;
  const auto panel_count = static_cast<std::int64_t>(panels.size());
  if (panel_count >= row_tiles) {
    parallel_ranges(panel_count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      RunBlock<Shape, S, mode>(job, panels, rows_per_tile, 0, row_tiles, begin, end);
    });
  } else {
    parallel_ranges(row_tiles, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      RunBlock<Shape, S, mode>(job, panels, rows_per_tile, begin, end, 0, panel_count);
    });
  }
}

// Chooses the lanes: float where its 24 bits suffice, double otherwise.
template <class Shape, Mode mode>
void RunInLanes(const Job& job, int threads) {
  const Accumulator& how = job.how();
  const int p = how.format.precision();
  const bool float_range = how.format.min_exponent() >= formats::fp32.min_exponent();
  if constexpr (!std::is_same_v<Shape, FusedTile>) {
    if constexpr (mode == Mode::rne) {
      if (how.format == formats::fp32) return RunAll<Shape, Fp32Step, mode>(job, threads);
      if (float_range && p <= 11 && product_bits(job.op.a_format, job.op.b_format) <= p) {
        return RunAll<Shape, Step<float, mode, Sum::native>, mode>(job, threads);
      }
      if constexpr (has_directed_rounding) {
        if (float_range && p <= 22) return RunAll<Shape, Step<float, mode, Sum::odd>, mode>(job, threads);
      }
    } else if constexpr (has_directed_rounding) {
      if (float_range && p + how.rounding.random_bits <= 23) {
        return RunAll<Shape, Step<float, mode, Sum::to_zero>, mode>(job, threads);
      }
    }
  }
  return RunAll<Shape, Step<double, mode, Sum::native>, mode>(job, threads);
}

template <class Shape>
void RunMode(const Job& job, int threads) {
  switch (job.how().rounding.mode) {
    case Mode::rne:
      return RunInLanes<Shape, Mode::rne>(job, threads);
    case Mode::rtz:
      return RunInLanes<Shape, Mode::rtz>(job, threads);
    case Mode::sr:
      return RunInLanes<Shape, Mode::sr>(job, threads);
  }
}

void GemmRounded(const GemmOperands& op, const GemmOptions& options, const DecodeTable& a_table,
                 const DecodeTable& b_table, float* c, int threads) {
  const Accumulator& how = options.accumulator;
  std::size_t group = 1;
  if (how.kind == Accumulator::Kind::chunk || how.kind == Accumulator::Kind::fused) group = how.group;
  if (how.kind == Accumulator::Kind::kulisch) group = op.k;
  group = std::min<std::size_t>(group, op.k);
  const std::size_t block_k = std::max<std::size_t>(wanted_block_k / group, 1) * group;
  const Job job{op, options, a_table, b_table, c, group, block_k};
  switch (how.kind) {
    case Accumulator::Kind::chunk:
      return RunMode<ChunkTile>(job, threads);
    case Accumulator::Kind::fused:
    case Accumulator::Kind::kulisch:
      return RunMode<FusedTile>(job, threads);
    default:
      return RunMode<PlainTile>(job, threads);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(GemmRounded);

bool gemm_rounded_supports(const GemmOperands& operands, const Accumulator& how) {
  const bool same_inner = how.kind != Accumulator::Kind::chunk ||
                          (how.inner_format == how.format && how.inner_rounding == how.rounding);
  return how.kind != Accumulator::Kind::aligned && same_inner && how.format.has_inf() &&
         how.format.precision() + how.rounding.random_bits <= 51 && how.rounding.random_bits <= 31 &&
         exact_in_fp32(operands.a_format) && exact_in_fp32(operands.b_format);
}

void gemm_rounded(const GemmOperands& operands, const GemmOptions& options, std::span<float> c, int threads) {
  if (operands.k == 0) {
    std::fill(c.begin(), c.end(), 0.0F);
    return;
  }
  const DecodeTable a(operands.a_format);
  const DecodeTable b(operands.b_format);
  HWY_DYNAMIC_DISPATCH(GemmRounded)(operands, options, a, b, c.data(), threads);
}

}  // namespace mantissa::kernels
#endif
