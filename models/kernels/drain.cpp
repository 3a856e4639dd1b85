#include "models/kernels/drain.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>

#include "models/kernels/conversion_grid.hpp"
#include "models/kernels/draw_blocks.hpp"
#include "models/quantize/rounding_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/drain.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/quantize_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void RoundValues(const ConversionGrid& g, const EndPatterns& ends, Rounding rounding, const float* in,
                 const std::uint32_t* draw, float* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(ValueSink(g, ends, out), g, rounding, in, draw, count, counts);
}

// Element (i, j) of a matrix with `cols` columns goes to out[j * stride + i].
void TransposeWords(const std::uint32_t* in, std::size_t rows, std::size_t cols, std::uint32_t* out,
                    std::size_t stride) {
  const hn::CappedTag<std::uint32_t, 8> d;
  constexpr std::size_t lanes = hn::MaxLanes(d);
  std::size_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    std::size_t j = 0;
    for (; j + lanes <= cols; j += lanes) {
      hn::VFromD<decltype(d)> row[lanes];
      for (std::size_t r = 0; r < lanes; ++r) row[r] = hn::LoadU(d, in + (i + r) * cols + j);
      Transpose(d, row);
      for (std::size_t r = 0; r < lanes; ++r) hn::StoreU(row[r], d, out + (j + r) * stride + i);
    }
    for (; j < cols; ++j) {
      for (std::size_t r = 0; r < lanes; ++r) out[j * stride + i + r] = in[(i + r) * cols + j];
    }
  }
  for (; i < rows; ++i) {
    for (std::size_t j = 0; j < cols; ++j) out[j * stride + i] = in[i * cols + j];
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(RoundValues);
HWY_EXPORT(TransposeWords);

// Rounds runs of numbers with the draws that they are given, and counts for one thread.
class RunRounder {
 public:
  RunRounder(const Conversion& how, bool counting)
      : how_(how),
        back_{.from = how.to, .scale = -how.scale},
        counting_(counting),
        vectorised_(has_vector_values(how, counting)) {
    if (!vectorised_) return;
    grid_ = grid_of(how);
    ends_ = end_values(grid_, how);
  }

  void operator()(const float* in, const std::uint32_t* draw, float* out, std::int64_t count) {
    if (vectorised_) {
      counts_.elements += count;
      HWY_DYNAMIC_DISPATCH(RoundValues)
      (grid_, ends_, how_.rounding, in, draw, out, count, counting_ ? &counts_ : nullptr);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t bits = fp32_bits(in[i]);
      const Rounded code = convert(bits, how_, draw != nullptr ? draw[i] : 0);
      mantissa::count(counts_, bits, code, how_);
      out[i] = fp32_value(convert(code.code, back_).code);
    }
  }
  const ConversionCounts& counts() const { return counts_; }

 private:
  Conversion how_;
  Conversion back_;
  bool counting_;
  bool vectorised_;
  ConversionGrid grid_ = {};
  EndPatterns ends_ = {};
  ConversionCounts counts_;
};

// body(rounder, begin, end) on ranges of [0, count), each thread with a rounder of its own.
template <class Body>
void with_rounders(std::int64_t count, std::int64_t grain, int threads, const Conversion& how,
                   ConversionCounts* counts, const Body& body) {
  std::mutex merge;
  parallel_ranges(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    RunRounder rounder(how, counts != nullptr);
    body(rounder, begin, end);
    if (counts == nullptr) return;
    const std::lock_guard lock(merge);
    *counts += rounder.counts();
  });
}

// The draws of one GEMM's drain, whole rows of tiles at a time.
class DrainDraws {
 public:
  DrainDraws(const DrawSource& source, const DrainTiles& tiles, std::int64_t channels)
      : tiles_(tiles),
        cols_(source.lanes),
        across_((channels + cols_ - 1) / cols_),
        // A single column of tiles needs no more lanes than it has channels.
        lanes_(std::min(cols_, channels)),
        stream_(source, 0, static_cast<int>(lanes_)) {}

  // So many rows of tiles that their draws stay in a cache near by.
  static std::int64_t tile_rows_at_once(const DrainTiles& tiles, std::int64_t channels) {
    constexpr std::int64_t draws = 8192;
    return std::max<std::int64_t>(draws / (tiles.rows * channels), 1);
  }

  // Draws of the tiles in rows [first, first + count) of tiles.
  void make(std::int64_t first, std::int64_t count) {
    stream_.seek((tiles_.first_tile + first * across_) * tiles_.rows);
    made_.resize(count * across_ * tiles_.rows * lanes_);
    stream_.fill(made_);
  }

  // Those of output (m, first channel of tile column `across`) and the channels after it; m counts from the
  // first row made.
  const std::uint32_t* of_row(std::int64_t m, std::int64_t across) const {
    const std::int64_t tile = m / tiles_.rows * across_ + across;
    return made_.data() + (tile * tiles_.rows + m % tiles_.rows) * lanes_;
  }
  std::int64_t columns() const { return cols_; }
  std::int64_t tile_columns() const { return across_; }

  // Turns the made draws channel by channel; then those of outputs (m, channel), (m + 1, channel), ...
  void turn() {
    const std::int64_t rows = static_cast<std::int64_t>(made_.size()) / (across_ * lanes_);
    stride_ = rows;
    turned_.resize(across_ * lanes_ * rows);
    const auto transpose = HWY_DYNAMIC_DISPATCH(TransposeWords);
    if (across_ == 1) return transpose(made_.data(), rows, lanes_, turned_.data(), stride_);
    for (std::int64_t m = 0; m < rows; m += tiles_.rows) {
      for (std::int64_t across = 0; across < across_; ++across) {
        transpose(of_row(m, across), tiles_.rows, lanes_, turned_.data() + across * lanes_ * stride_ + m,
                  stride_);
      }
    }
  }
  const std::uint32_t* of_channel(std::int64_t m, std::int64_t channel) const {
    return turned_.data() + channel * stride_ + m;
  }

 private:
  DrainTiles tiles_;
  std::int64_t cols_;
  std::int64_t across_;
  std::int64_t lanes_;
  DrawStream stream_;
  std::int64_t stride_ = 0;
  std::vector<std::uint32_t> made_;
  std::vector<std::uint32_t> turned_;
};

// Outputs (m, n) with begin <= m < end of a row-major product.
void drain_rows(const DrainDraws& draws, RunRounder& rounder, const float* sums, std::int64_t channels,
                std::int64_t begin, std::int64_t end, float* values) {
  for (std::int64_t m = begin; m < end; ++m) {
    for (std::int64_t across = 0; across < draws.tile_columns(); ++across) {
      const std::int64_t n = across * draws.columns();
      const std::int64_t at = m * channels + n;
      rounder(sums + at, draws.of_row(m - begin, across), values + at,
              std::min(draws.columns(), channels - n));
    }
  }
}

// The same where a channel's outputs of one image lie together.
void drain_channels(const DrainDraws& draws, RunRounder& rounder, const float* sums, const NormShape& shape,
                    std::int64_t begin, std::int64_t end, float* values) {
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    for (std::int64_t m = begin; m < end;) {
      const std::int64_t s = m % shape.spatial;
      const std::int64_t count = std::min(shape.spatial - s, end - m);
      const std::int64_t at = shape.run_begin(m / shape.spatial, channel) + s;
      rounder(sums + at, draws.of_channel(m - begin, channel), values + at, count);
      m += count;
    }
  }
}

}  // namespace

void round_values(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                  std::span<float> rounded, int threads, ConversionCounts* counts) {
  check_quantizer(how, 32, values.size(), rounded.size());
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses
  const bool random = how.rounding.stochastic();
  with_rounders(static_cast<std::int64_t>(values.size()), random ? draw_block(draws) : worth_a_thread,
                threads, how, counts, [&](RunRounder& rounder, std::int64_t begin, std::int64_t end) {
                  if (!random) {
                    rounder(values.data() + begin, nullptr, rounded.data() + begin, end - begin);
                    return;
                  }
                  for_draw_blocks(draws, begin, end,
                                  [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
                                    rounder(values.data() + first, draw, rounded.data() + first, count);
                                  });
                });
}

void drain_values(std::span<const float> sums, const NormShape& shape, const Conversion& how,
                  const DrawSource& draws, const DrainTiles& tiles, std::span<float> values, int threads,
                  ConversionCounts* counts) {
  check_elements("the sums", sums.size(), shape);
  if (tiles.rows < 1 || tiles.first_tile < 0) {
    throw std::invalid_argument("an array of " + std::to_string(tiles.rows) + " rows, tiles from " +
                                std::to_string(tiles.first_tile) +
                                ": there must be a row, and tiles count from 0");
  }
  if (!how.rounding.stochastic()) return round_values(sums, how, draws, values, threads, counts);
  check_quantizer(how, 32, sums.size(), values.size());
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses

  const std::int64_t rows = shape.per_channel();
  const std::int64_t tile_rows = (rows + tiles.rows - 1) / tiles.rows;
  const std::int64_t block = DrainDraws::tile_rows_at_once(tiles, shape.channels);
  with_rounders(tile_rows, block, threads, how, counts,
                [&](RunRounder& rounder, std::int64_t first, std::int64_t last) {
                  DrainDraws random(draws, tiles, shape.channels);
                  for (std::int64_t tile_row = first; tile_row < last; tile_row += block) {
                    const std::int64_t count = std::min(block, last - tile_row);
                    const std::int64_t begin = tile_row * tiles.rows;
                    const std::int64_t end = std::min(begin + count * tiles.rows, rows);
                    random.make(tile_row, count);
                    if (shape.spatial == 1) {
                      drain_rows(random, rounder, sums.data(), shape.channels, begin, end, values.data());
                    } else {
                      random.turn();
                      drain_channels(random, rounder, sums.data(), shape, begin, end, values.data());
                    }
                  }
                });
}

}  // namespace mantissa::kernels
#endif
