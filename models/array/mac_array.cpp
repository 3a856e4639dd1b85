#include "models/array/mac_array.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mul.hpp"
#include "models/quantize/quantizer.hpp"

namespace mantissa {
namespace {

TileShape shape_of(const Tile& tile) {
  return {.m = tile.m, .n = tile.n, .k = tile.k, .step_k = tile.step_k};
}

void check_tile(const MacArray& array, const Tile& tile, std::size_t lanes) {
  array.check();
  check_tile_shape(shape_of(tile), array.rows(), array.cols, tile.a.size(), tile.b.size());
  if (!tile.bias.empty() && tile.bias.size() != static_cast<std::size_t>(tile.n)) {
    throw std::invalid_argument(std::to_string(tile.bias.size()) + " biases for " + std::to_string(tile.n) +
                                " columns");
  }
  if (array.drain.rounding.stochastic() && lanes != static_cast<std::size_t>(array.cols)) {
    throw std::invalid_argument("an array of " + std::to_string(array.cols) +
                                " columns has as many lanes, not " + std::to_string(lanes));
  }
}

// Element [row, col] of a matrix padded with +0.
std::vector<std::uint8_t> padded(std::span<const std::uint8_t> codes, std::int64_t rows, std::int64_t cols,
                                 std::int64_t to_rows, std::int64_t to_cols) {
  std::vector<std::uint8_t> result(to_rows * to_cols);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(codes.begin() + row * cols, cols, result.begin() + row * to_cols);
  }
  return result;
}

std::vector<std::uint8_t> nonzero_elements(const MacArray& array, const Tile& tile) {
  std::vector<std::uint8_t> nonzero;
  nonzero.reserve(tile.a.size());
  for (const std::uint8_t code : tile.a) nonzero.push_back(array.a.is_zero(code) ? 0 : 1);
  return nonzero;
}

}  // namespace

void MacArray::check() const {
  skip_window.check();
  if (cols < 1) throw std::invalid_argument("an array has at least one column, not " + std::to_string(cols));
  if (pipe_latency < 0) throw std::invalid_argument("a pipe latency cannot be negative");
  check_exact_product(a, b);
  Accumulator{.format = accumulator}.check();
  check_quantizer(drain, 32, 0, 0);
}

std::vector<Lfsr> drain_lanes(const MacArray& array, const DrawSource& draws, std::int64_t tile) {
  draws.check();
  check_leap(draws.leap, array.drain.rounding.random_bits);
  std::vector<Lfsr> lanes;
  lanes.reserve(array.cols);
  for (int col = 0; col < array.cols; ++col) {
    lanes.push_back(draws.lane(col, static_cast<std::uint64_t>(tile) * array.rows()));
  }
  return lanes;
}

TileResult mac_array(const MacArray& array, const Tile& tile, std::span<Lfsr> lanes) {
  check_tile(array, tile, lanes.size());
  const std::int64_t rows = array.rows();
  const std::int64_t cols = array.cols;
  TileResult result;
  result.steps = schedule_steps(array.skip_window, shape_of(tile), nonzero_elements(array, tile));

  const std::vector<std::uint8_t> a = padded(tile.a, tile.m, tile.k, rows, tile.k);
  const std::vector<std::uint8_t> b = padded(tile.b, tile.k, tile.n, tile.k, cols);
  const GemmOperands operands{
      .m = rows, .n = cols, .k = tile.k, .a = a, .b = b, .a_format = array.a, .b_format = array.b};
  GemmOptions options;
  options.accumulator.format = array.accumulator;
  options.skip_zero_a = array.skip_window.skip;
  options.rows = array.rows();
  std::vector<float> sums(rows * cols);
  check_gemm(operands, options, sums.size());
  // What unused rows leave out is not suppressed: they have no outputs.
  result.suppressed = gemm_block(operands, options, sums, 0, tile.m, 0, cols).suppressed;
  gemm_block(operands, options, sums, tile.m, rows, 0, cols);

  const Conversion& drain = array.drain;
  const Conversion to_accumulator{.to = array.accumulator};
  result.accumulators.resize(rows * cols);
  result.outputs.resize(rows * cols);
  for (std::int64_t col = 0; col < cols; ++col) {
    const float bias = col < tile.n && !tile.bias.empty() ? tile.bias[col] : 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t i = row * cols + col;
      result.accumulators[i] = convert(fp32_bits(sums[i]), to_accumulator).code;
      const float biased = tile.bias.empty() ? sums[i] : f32::add(sums[i], bias);
      const std::uint32_t draw = drain.rounding.stochastic() ? lanes[col].draw() : 0;
      result.outputs[i] = convert(fp32_bits(biased), drain, draw);
    }
  }
  return result;
}

}  // namespace mantissa
