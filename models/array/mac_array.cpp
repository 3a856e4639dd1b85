#include "models/array/mac_array.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mul.hpp"
#include "models/quantize/quantizer.hpp"

namespace mantissa {
namespace {

void check_tile(const MacArray& array, const Tile& tile, std::size_t lanes) {
  array.check();
  const auto fits = [](std::int64_t rows, std::int64_t cols, std::size_t elements) {
    return static_cast<unsigned __int128>(rows) * static_cast<unsigned __int128>(cols) == elements;
  };
  if (tile.m < 0 || tile.m > array.rows() || tile.n < 0 || tile.n > array.cols || tile.k < 1 ||
      tile.step_k < 0 || !fits(tile.m, tile.k, tile.a.size()) || !fits(tile.k, tile.n, tile.b.size())) {
    throw std::invalid_argument("a tile of " + std::to_string(tile.m) + " x " + std::to_string(tile.n) +
                                " outputs, K = " + std::to_string(tile.k) +
                                ", does not fit its operands or an " + std::to_string(array.rows()) + " x " +
                                std::to_string(array.cols) + " array");
  }
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

std::vector<SkipSchedule> schedule_steps(const MacArray& array, const Tile& tile) {
  std::vector<SkipSchedule> steps;
  const std::int64_t step_k = tile.step_k == 0 ? tile.k : tile.step_k;
  for (std::int64_t first = 0; first < tile.k; first += step_k) {
    const std::int64_t length = std::min(step_k, tile.k - first);
    std::vector<std::uint8_t> a(tile.m * length);
    for (std::int64_t row = 0; row < tile.m; ++row) {
      std::copy_n(tile.a.begin() + row * tile.k + first, length, a.begin() + row * length);
    }
    const auto nonzero = nonzero_counts(a, array.a, tile.m, length, array.skip_window.window);
    steps.push_back(skip_schedule(array.skip_window, length, nonzero));
  }
  return steps;
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

std::uint64_t TileResult::compute_cycles() const {
  std::uint64_t cycles = 0;
  for (const SkipSchedule& step : steps) cycles += step.cycles;
  return cycles;
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
  result.steps = schedule_steps(array, tile);

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
