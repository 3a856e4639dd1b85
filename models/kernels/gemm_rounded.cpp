#include "models/kernels/gemm_rounded.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/mac/fp8_mul.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemm_rounded.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"
#include "models/kernels/panel_draws-inl.hpp"
#include "models/kernels/rounding_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

constexpr std::size_t wanted_block_k = 256;

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

// Decoded rows of A that fit 32 MiB.
template <class T>
std::int64_t RowsInBudget(std::int64_t k) {
  return (std::int64_t{32} << 20) / (k * static_cast<std::int64_t>(sizeof(T)));
}

// One thread's share of a GEMM: rows of array tiles against panels of columns.
template <class T>
class BlockRunner {
 public:
  BlockRunner(const Job& job, const TileRunner<T>& tiles, std::int64_t rows_per_tile)
      : job_(job),
        tiles_(tiles),
        rows_per_tile_(rows_per_tile),
        padded_rows_((rows_per_tile + tile_rows - 1) / tile_rows * tile_rows),
        width_(TileColumns<T>()),
        depth_(job.op.k),
        a_stride_(depth_ + 16),
        b_(depth_ * width_),
        acc_(padded_rows_ * width_),
        random_(tiles.per_product ? job.block_k * width_ : 0),
        group_random_(tiles.per_group ? (job.block_k / job.group + 1) * width_ : 0),
        product_draws_(Draws(0)),
        group_draws_(Draws(tiles.per_product ? job.options.draws.lanes : 0)),
        left_range_(padded_rows_ / tile_rows) {
    // Columns of a panel that no lane feeds stay zero.
    std::fill(random_.span().begin(), random_.span().end(), T{0});
    std::fill(group_random_.span().begin(), group_random_.span().end(), T{0});
  }

  void Run(const std::vector<ColumnPanel>& panels, std::int64_t row_tile0, std::int64_t row_tile1,
           std::int64_t panel0, std::int64_t panel1) {
    // Tile rows whose decoded A fits the budget, at least one.
    const std::int64_t tiles_per_block = std::max<std::int64_t>(1, RowsInBudget<T>(job_.op.k) / padded_rows_);
    a_ = AlignedBuffer<T>(std::min(tiles_per_block, row_tile1 - row_tile0) * padded_rows_ * a_stride_);
    for (std::int64_t block = row_tile0; block < row_tile1; block += tiles_per_block) {
      const std::int64_t block_end = std::min(block + tiles_per_block, row_tile1);
      for (std::int64_t row_tile = block; row_tile < block_end; ++row_tile)
        DecodeRows(row_tile, ATile(row_tile - block));
      for (std::int64_t p = panel0; p < panel1; ++p) {
        DecodePanel(panels[p]);
        for (std::int64_t row_tile = block; row_tile < block_end; ++row_tile) {
          RunRowTile(panels[p], row_tile, ATile(row_tile - block));
        }
      }
    }
  }

 private:
  PanelDraws<T> Draws(std::int64_t lane_offset) const {
    const Accumulator& how = job_.how();
    const int bits = how.rounding.random_bits;
    return PanelDraws<T>(job_.options.draws, lane_offset, bits, -bits - how.format.mantissa_bits,
                         tiles_.random_shift);
  }
  T* ATile(std::int64_t index) { return a_.data() + index * padded_rows_ * a_stride_; }

  void DecodeRows(std::int64_t row_tile, T* out) const {
    for (std::int64_t r = 0; r < padded_rows_; ++r, out += a_stride_) {
      const std::int64_t row = row_tile * rows_per_tile_ + r;
      if (r < rows_per_tile_ && row < job_.op.m) {
        DecodeRowTo(job_.a_table.value.data(), job_.op.a.data() + row * job_.op.k, out, depth_);
      } else {
        std::fill(out, out + depth_, T{0});
      }
    }
  }

  void DecodePanel(const ColumnPanel& panel) {
    for (std::size_t k = 0; k < depth_; ++k) {
      T* out = b_.data() + k * width_;
      DecodeRowTo(job_.b_table.value.data(), job_.op.b.data() + k * job_.op.n + panel.first, out,
                  panel.columns);
      std::fill(out + panel.columns, out + width_, T{0});
    }
  }

  // The draws that steps k .. k + depth - 1 of this row of tiles take.
  void FillRandom(const ColumnPanel& panel, std::int64_t row_tile, std::size_t k, std::size_t depth) {
    const std::int64_t lanes = job_.options.draws.lanes;
    const std::uint64_t first_tile = job_.options.first_tile + row_tile * ((job_.op.n + lanes - 1) / lanes);
    if (tiles_.per_product) product_draws_.Fill(panel, first_tile, depth_, k, depth, width_, random_.data());
    if (tiles_.per_group) {
      const std::size_t groups = (depth + job_.group - 1) / job_.group;
      group_draws_.Fill(panel, first_tile, job_.how().roundings(job_.op.k), k / job_.group, groups, width_,
                        group_random_.data());
    }
  }

  void RunRowTile(const ColumnPanel& panel, std::int64_t row_tile, const T* a) {
    const std::int64_t row0 = row_tile * rows_per_tile_;
    const std::int64_t rows = std::min(rows_per_tile_, job_.op.m - row0);
    std::fill(left_range_.begin(), left_range_.end(), false);
    std::fill(acc_.span().begin(), acc_.span().end(), T{0});
    for (std::size_t k = 0; k < depth_; k += job_.block_k) {
      const std::size_t depth = std::min(job_.block_k, depth_ - k);
      FillRandom(panel, row_tile, k, depth);
      for (std::int64_t r = 0; r < rows; r += tile_rows) {
        if (left_range_[r / tile_rows]) continue;
        const Tile<T> tile{a + r * a_stride_ + k,
                           a_stride_,
                           b_.data() + k * width_,
                           tiles_.per_product ? random_.data() : nullptr,
                           tiles_.per_group ? group_random_.data() : nullptr,
                           depth,
                           job_.group,
                           acc_.data() + r * width_,
                           tiles_.limit};
        if (!tiles_.Run(tile)) left_range_[r / tile_rows] = true;
      }
    }
    StoreRows(panel, row0, rows);
  }

  void StoreRows(const ColumnPanel& panel, std::int64_t row0, std::int64_t rows) {
    const GemmOperands& op = job_.op;
    for (std::int64_t r = 0; r < rows; ++r) {
      float* out = job_.c + (row0 + r) * op.n + panel.first;
      for (std::int64_t j = 0; j < panel.columns; ++j) {
        const T value = acc_.data()[r * width_ + j];
        // Adding +0 turns -0 into +0: inside a GEMM a sum that rounds to zero is +0.
        out[j] = value == value ? static_cast<float>(value) + 0.0F : fp32_value(formats::fp32.nan_code());
      }
    }
    // Groups whose magnitudes left the range are the scalar model's.
    for (std::int64_t r = 0; r < rows; r += tile_rows) {
      if (!left_range_[r / tile_rows]) continue;
      gemm_block(op, job_.options, {job_.c, static_cast<std::size_t>(op.m * op.n)}, row0 + r,
                 row0 + std::min<std::int64_t>(r + tile_rows, rows), panel.first,
                 panel.first + panel.columns);
    }
  }

  const Job& job_;
  const TileRunner<T>& tiles_;
  const std::int64_t rows_per_tile_;
  const std::int64_t padded_rows_;
  const std::size_t width_;
  const std::size_t depth_;
  const std::size_t
      a_stride_;  // not a multiple of 4 KiB for the usual depths, or all rows would share a cache set
  AlignedBuffer<T> a_;
  AlignedBuffer<T> b_;
  AlignedBuffer<T> acc_;
  AlignedBuffer<T> random_;
  AlignedBuffer<T> group_random_;
  PanelDraws<T> product_draws_;
  PanelDraws<T> group_draws_;
  std::vector<bool> left_range_;
};

template <class T>
void RunAll(const Job& job, const TileRunner<T>& tiles, int threads) {
  const auto width = static_cast<std::int64_t>(TileColumns<T>());
  const auto panels = column_panels(job.op.n, width, job.stochastic() ? job.options.draws.lanes : 0);
  // Without random numbers the array's shape does not matter; tall tiles decode B less often.
  const std::int64_t tall =
      std::clamp<std::int64_t>(std::min(job.op.m, RowsInBudget<T>(job.op.k)), tile_rows, 64);
  const std::int64_t rows_per_tile = job.stochastic() ? job.options.rows : tall;
  const std::int64_t row_tiles = (job.op.m + rows_per_tile - 1) / rows_per_tile;
  const auto panel_count = static_cast<std::int64_t>(panels.size());
  if (panel_count >= row_tiles) {
    parallel_ranges(panel_count, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      BlockRunner<T>(job, tiles, rows_per_tile).Run(panels, 0, row_tiles, begin, end);
    });
  } else {
    parallel_ranges(row_tiles, 1, threads, [&](std::int64_t begin, std::int64_t end) {
      BlockRunner<T>(job, tiles, rows_per_tile).Run(panels, begin, end, 0, panel_count);
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
    if constexpr (traits_of(mode).nearest) {
      // Plain FP32 has a kernel of its own, gemm_fp32.
      if constexpr (mode == Mode::rne && std::is_same_v<Shape, ChunkTile>) {
        if (how.format == formats::fp32)
          return RunAll(job, RoundingTile<Shape, Fp32Step, mode>(job.op, how), threads);
      }
      if (float_range && p <= 11 && product_bits(job.op.a_format, job.op.b_format) <= p) {
        return RunAll(job, RoundingTile<Shape, Step<float, mode, Sum::native>, mode>(job.op, how), threads);
      }
      if constexpr (has_directed_rounding) {
        if (float_range && p <= 22)
          return RunAll(job, RoundingTile<Shape, Step<float, mode, Sum::odd>, mode>(job.op, how), threads);
      }
    } else if constexpr (has_directed_rounding) {
      if (float_range && p + how.rounding.random_bits <= 23) {
        return RunAll(job, RoundingTile<Shape, Step<float, mode, Sum::to_zero>, mode>(job.op, how), threads);
      }
    }
  }
  return RunAll(job, RoundingTile<Shape, Step<double, mode, Sum::native>, mode>(job.op, how), threads);
}

template <class Shape>
void RunMode(const Job& job, int threads) {
  visit_rounding(job.how().rounding.mode,
                 [&](auto mode) { RunInLanes<Shape, decltype(mode)::value>(job, threads); });
}

void GemmRounded(const GemmOperands& op, const GemmOptions& options, const DecodeTable& a_table,
                 const DecodeTable& b_table, float* c, int threads) {
  const Accumulator& how = options.accumulator;
  const auto group = static_cast<std::size_t>(std::min(how.group_of(op.k), op.k));
  const std::size_t block_k = std::max<std::size_t>(wanted_block_k / group, 1) * group;
  const Job job{op, options, a_table, b_table, c, group, block_k};
  switch (how.kind) {
    case Accumulator::Kind::plain:
      return RunMode<PlainTile>(job, threads);
    case Accumulator::Kind::chunk:
      return RunMode<ChunkTile>(job, threads);
    case Accumulator::Kind::fused:
    case Accumulator::Kind::kulisch:
      return RunMode<FusedTile>(job, threads);
    case Accumulator::Kind::aligned:
      break;
  }
  throw std::logic_error("gemm_rounded has no accumulator of the kind " + how.kind_name());
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(GemmRounded);

namespace {

// The kinds that have tiles.
bool has_tiles(const Accumulator& how) {
  switch (how.kind) {
    case Accumulator::Kind::plain:
    case Accumulator::Kind::fused:
    case Accumulator::Kind::kulisch:
      return true;
    case Accumulator::Kind::chunk:
      return !how.inner && how.inner_format == how.format && how.inner_rounding == how.rounding;
    case Accumulator::Kind::aligned:
      return false;
  }
  return false;
}

}  // namespace

bool gemm_rounded_supports(const GemmOperands& operands, const Accumulator& how) {
  return has_tiles(how) && how.format.has_inf() && how.format.precision() + how.rounding.random_bits <= 51 &&
         how.rounding.random_bits <= 31 &&
         how.format.min_exponent() <=
             operands.a_format.min_quantum() + operands.b_format.min_quantum() + 48 &&
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
