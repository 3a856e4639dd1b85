#include "sim/replay/drain.hpp"

#include <algorithm>
#include <vector>

#include "models/kernels/quantize.hpp"
#include "models/parallel/parallel.hpp"

namespace mantissa::replay {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

template <class Code>
class Drain {
 public:
  Drain(std::span<const float> sums, const DrainedProduct& product, const Conversion& how,
        const DrawSource& draws, std::span<Code> codes, int threads)
      : sums_(sums),
        product_(product),
        how_(how),
        draws_(draws),
        codes_(codes),
        threads_(threads),
        tile_rows_(ceil_div(product.m, product.rows)),
        tile_cols_(ceil_div(product.n, draws.lanes)) {}

  ConversionCounts run() {
    if (!how_.rounding.stochastic()) {
      quantize_pass(sums_, draws_, codes_);
    } else if (tile_cols_ == 1) {
      run_groups();
    } else if (2 * product_.m < product_.rows) {
      run_single_tiles();
    } else {
      run_in_tile_order();
    }
    counts_.elements = sums_.size();
    return counts_;
  }

 private:
  // A plain tensor pass.
  void quantize_pass(std::span<const float> values, const DrawSource& draws, std::span<Code> codes) {
    if constexpr (sizeof(Code) <= 2) {
      kernels::quantize<Code>(values, how_, draws, codes, threads_, &counts_);
    } else {
      counts_ += quantize<Code>(values, how_, draws, codes);
    }
  }

  // A source for the lanes in use only, from this tile on.
  DrawSource draws_from(std::int64_t tile, std::int64_t columns) const {
    DrawSource source = draws_;
    source.lanes = static_cast<int>(columns);
    source.before = static_cast<std::uint64_t>(tile) * product_.rows;
    return source;
  }

  // One column of tiles: the rows of a group follow each other without a gap.
  void run_groups() {
    const std::int64_t outputs = product_.m * product_.n;
    for (std::int64_t group = 0; group < product_.groups; ++group) {
      quantize_pass(sums_.subspan(group * outputs, outputs), draws_from(group * tile_rows_, product_.n),
                    codes_.subspan(group * outputs, outputs));
    }
  }

  // Few rows of wide tiles: each tile on its own, without its unused rows.
  void run_single_tiles() {
    std::vector<float> values;
    std::vector<Code> codes;
    for (std::int64_t tile = 0; tile < product_.groups * tile_cols_; ++tile) {
      const std::int64_t first_col = tile % tile_cols_ * draws_.lanes;
      const std::int64_t cols = std::min<std::int64_t>(draws_.lanes, product_.n - first_col);
      const std::int64_t first = tile / tile_cols_ * product_.m * product_.n + first_col;
      values.resize(product_.m * cols);
      codes.resize(values.size());
      for (std::int64_t row = 0; row < product_.m; ++row)
        std::copy_n(sums_.begin() + first + row * product_.n, cols, values.begin() + row * cols);
      quantize_pass(values, draws_from(tile, cols), codes);
      for (std::int64_t row = 0; row < product_.m; ++row)
        std::copy_n(codes.begin() + row * cols, cols, codes_.begin() + first + row * product_.n);
    }
  }

  // In tile order, unused rows and columns included, the drain is a plain tensor pass: element i takes draw
  // i / Cols of lane i mod Cols. At least a quarter of the elements are outputs here.
  void run_in_tile_order() {
    std::vector<float> values(product_.groups * tile_rows_ * tile_cols_ * product_.rows * draws_.lanes);
    std::vector<Code> codes(values.size());
    for_tile_rows([&](std::int64_t ordered, std::int64_t output, std::int64_t count) {
      std::copy_n(sums_.begin() + output, count, values.begin() + ordered);
    });
    quantize_pass(values, draws_, codes);
    for_tile_rows([&](std::int64_t ordered, std::int64_t output, std::int64_t count) {
      std::copy_n(codes.begin() + ordered, count, codes_.begin() + output);
    });
  }

  // Calls body(position in tile order, position in [groups, m, n], columns) for each row of each tile.
  template <class Body>
  void for_tile_rows(const Body& body) const {
    const std::int64_t rows = product_.rows;
    const std::int64_t cols = draws_.lanes;
    parallel_ranges(product_.groups * tile_rows_, 1, threads_, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t tile_row = begin; tile_row < end; ++tile_row) {
        const std::int64_t first_row = tile_row % tile_rows_ * rows;
        const std::int64_t first_output = tile_row / tile_rows_ * product_.m + first_row;
        for (std::int64_t tile_col = 0; tile_col < tile_cols_; ++tile_col) {
          const std::int64_t tile = tile_row * tile_cols_ + tile_col;
          const std::int64_t used = std::min(cols, product_.n - tile_col * cols);
          for (std::int64_t row = 0; row < std::min(rows, product_.m - first_row); ++row) {
            body((tile * rows + row) * cols, (first_output + row) * product_.n + tile_col * cols, used);
          }
        }
      }
    });
  }

  std::span<const float> sums_;
  DrainedProduct product_;
  Conversion how_;
  DrawSource draws_;
  std::span<Code> codes_;
  int threads_;
  std::int64_t tile_rows_;
  std::int64_t tile_cols_;
  ConversionCounts counts_;
};

}  // namespace

template <class Code>
ConversionCounts drain_quantize(std::span<const float> sums, const DrainedProduct& product,
                                const Conversion& how, const DrawSource& draws, std::span<Code> codes,
                                int threads) {
  return Drain<Code>(sums, product, how, draws, codes, threads).run();
}

template ConversionCounts drain_quantize(std::span<const float>, const DrainedProduct&, const Conversion&,
                                         const DrawSource&, std::span<std::uint8_t>, int);
template ConversionCounts drain_quantize(std::span<const float>, const DrainedProduct&, const Conversion&,
                                         const DrawSource&, std::span<std::uint16_t>, int);
template ConversionCounts drain_quantize(std::span<const float>, const DrainedProduct&, const Conversion&,
                                         const DrawSource&, std::span<std::uint32_t>, int);

}  // namespace mantissa::replay
