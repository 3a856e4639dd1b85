#include "models/kernels/drain.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/kernels/rounded_ranges.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/drain.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/float_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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
HWY_EXPORT(TransposeWords);

// The draws of one GEMM's drain, whole rows of tiles at a time.
class DrainDraws {
 public:
  DrainDraws(const DrawSource& source, const DrainTiles& tiles, const NormShape& shape)
      : tiles_(tiles),
        height_(std::min(tiles.rows, shape.per_channel())),
        cols_(source.lanes),
        across_((shape.channels + cols_ - 1) / cols_),
        // A single column of tiles needs no more lanes than it has channels.
        lanes_(std::min(cols_, shape.channels)),
        stream_(source, 0, static_cast<int>(lanes_)) {}

  // So many rows of tiles that their draws stay in a cache near by.
  static std::int64_t tile_rows_at_once(const DrainTiles& tiles, std::int64_t channels) {
    constexpr std::int64_t draws = 8192;
    return std::max<std::int64_t>(draws / (tiles.rows * channels), 1);
  }

  // Draws of the tiles in rows [first, first + count) of tiles.
  void make(std::int64_t first, std::int64_t count) {
    made_.resize(count * across_ * height_ * lanes_);
    const std::int64_t tile = tiles_.first_tile + first * across_;
    if (height_ == tiles_.rows) {
      stream_.seek(tile * tiles_.rows);
      stream_.fill(made_);
      return;
    }
    // A single row of tiles that the product does not fill: nothing is drawn for the rows below it.
    for (std::int64_t across = 0; across < across_; ++across) {
      stream_.seek((tile + across) * tiles_.rows);
      stream_.fill(std::span(made_).subspan(across * height_ * lanes_, height_ * lanes_));
    }
  }

  // Those of output (m, first channel of tile column `across`) and the channels after it; m counts from the
  // first row made.
  const std::uint32_t* of_row(std::int64_t m, std::int64_t across) const {
    const std::int64_t tile = m / height_ * across_ + across;
    return made_.data() + (tile * height_ + m % height_) * lanes_;
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
    for (std::int64_t m = 0; m < rows; m += height_) {
      for (std::int64_t across = 0; across < across_; ++across) {
        transpose(of_row(m, across), height_, lanes_, turned_.data() + across * lanes_ * stride_ + m,
                  stride_);
      }
    }
  }
  const std::uint32_t* of_channel(std::int64_t m, std::int64_t channel) const {
    return turned_.data() + channel * stride_ + m;
  }

 private:
  DrainTiles tiles_;
  std::int64_t height_;  // rows of a tile that the product has
  std::int64_t cols_;
  std::int64_t across_;
  std::int64_t lanes_;
  DrawStream stream_;
  std::int64_t stride_ = 0;
  std::vector<std::uint32_t> made_;
  std::vector<std::uint32_t> turned_;
};

// Outputs (m, n) with begin <= m < end of a row-major product.
template <class Out>
void drain_rows(const DrainDraws& draws, RunRounder<Out>& rounder, const float* sums, std::int64_t channels,
                std::int64_t begin, std::int64_t end, Out* out) {
  for (std::int64_t m = begin; m < end; ++m) {
    for (std::int64_t across = 0; across < draws.tile_columns(); ++across) {
      const std::int64_t n = across * draws.columns();
      const std::int64_t at = m * channels + n;
      rounder(sums + at, draws.of_row(m - begin, across), out + at, std::min(draws.columns(), channels - n));
    }
  }
}

// The same where a channel's outputs of one image lie together.
template <class Out>
void drain_channels(const DrainDraws& draws, RunRounder<Out>& rounder, const float* sums,
                    const NormShape& shape, std::int64_t begin, std::int64_t end, Out* out) {
  for (std::int64_t channel = 0; channel < shape.channels; ++channel) {
    for (std::int64_t m = begin; m < end;) {
      const std::int64_t s = m % shape.spatial;
      const std::int64_t count = std::min(shape.spatial - s, end - m);
      const std::int64_t at = shape.run_begin(m / shape.spatial, channel) + s;
      rounder(sums + at, draws.of_channel(m - begin, channel), out + at, count);
      m += count;
    }
  }
}

}  // namespace

void round_values(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                  std::span<float> rounded, int threads, ConversionCounts* counts) {
  round_tensor<float>(values, how, draws, rounded, threads, counts);
}

template <class Out>
void drain(std::span<const float> sums, const NormShape& shape, const Conversion& how,
           const DrawSource& draws, const DrainTiles& tiles, std::span<Out> out, int threads,
           ConversionCounts* counts) {
  check_elements("the sums", sums.size(), shape);
  if (tiles.rows < 1 || tiles.first_tile < 0) {
    throw std::invalid_argument("an array of " + std::to_string(tiles.rows) + " rows, tiles from " +
                                std::to_string(tiles.first_tile) +
                                ": there must be a row, and tiles count from 0");
  }
  if (!how.rounding.stochastic()) return round_tensor<Out>(sums, how, draws, out, threads, counts);
  check_quantizer(how, 8 * sizeof(Out), sums.size(), out.size());
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses

  const std::int64_t rows = shape.per_channel();
  const std::int64_t tile_rows = (rows + tiles.rows - 1) / tiles.rows;
  const std::int64_t block = DrainDraws::tile_rows_at_once(tiles, shape.channels);
  with_rounders<Out>(tile_rows, block, threads, how, counts,
                     [&](RunRounder<Out>& rounder, std::int64_t first, std::int64_t last) {
                       DrainDraws random(draws, tiles, shape);
                       for (std::int64_t tile_row = first; tile_row < last; tile_row += block) {
                         const std::int64_t count = std::min(block, last - tile_row);
                         const std::int64_t begin = tile_row * tiles.rows;
                         const std::int64_t end = std::min(begin + count * tiles.rows, rows);
                         random.make(tile_row, count);
                         if (shape.spatial == 1) {
                           drain_rows(random, rounder, sums.data(), shape.channels, begin, end, out.data());
                         } else {
                           random.turn();
                           drain_channels(random, rounder, sums.data(), shape, begin, end, out.data());
                         }
                       }
                     });
}

template void drain(std::span<const float>, const NormShape&, const Conversion&, const DrawSource&,
                    const DrainTiles&, std::span<float>, int, ConversionCounts*);
template void drain(std::span<const float>, const NormShape&, const Conversion&, const DrawSource&,
                    const DrainTiles&, std::span<std::uint8_t>, int, ConversionCounts*);
template void drain(std::span<const float>, const NormShape&, const Conversion&, const DrawSource&,
                    const DrainTiles&, std::span<std::uint16_t>, int, ConversionCounts*);
template void drain(std::span<const float>, const NormShape&, const Conversion&, const DrawSource&,
                    const DrainTiles&, std::span<std::uint32_t>, int, ConversionCounts*);

}  // namespace mantissa::kernels
#endif
