#include "models/array/int_array.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {

void IntArray::check() const {
  skip_window.check();
  if (cols < 1) throw std::invalid_argument("an array has at least one column, not " + std::to_string(cols));
  if (pipe_latency < 0) throw std::invalid_argument("a pipe latency cannot be negative");
  for (const int bits : {a_bits, b_bits}) {
    if (bits != 8 && bits != 16) {
      throw std::invalid_argument("operands of an integer array have 8 or 16 bits, not " +
                                  std::to_string(bits));
    }
  }
  if (a_bits == 16 && b_bits == 16) {
    throw std::invalid_argument("at most one operand of an integer array has 16 bits");
  }
  check_int_mac_sum(a_bits + b_bits, acc_bits);
}

// A product is the same either way round; int_mac has the wide factor second.
WrappedSum int_array_step(const IntArray& array, std::uint32_t a, std::uint32_t b, std::uint64_t acc) {
  return array.a_bits > array.b_bits ? int_mac_wrapping(b, a, acc, array.a_bits, array.acc_bits)
                                     : int_mac_wrapping(a, b, acc, array.b_bits, array.acc_bits);
}

IntTileResult int_array(const IntArray& array, const IntTile& tile) {
  array.check();
  const TileShape shape{.m = tile.m, .n = tile.n, .k = tile.k, .step_k = tile.step_k};
  check_tile_shape(shape, array.rows(), array.cols, tile.a.size(), tile.b.size());
  std::vector<std::uint8_t> nonzero;
  nonzero.reserve(tile.a.size());
  for (const std::uint16_t a : tile.a) nonzero.push_back(a != 0 ? 1 : 0);

  IntTileResult result;
  result.steps = schedule_steps(array.skip_window, shape, nonzero);
  result.sums.resize(static_cast<std::size_t>(array.rows()) * array.cols);
  for (std::int64_t row = 0; row < tile.m; ++row) {
    for (std::int64_t col = 0; col < tile.n; ++col) {
      std::uint64_t& sum = result.sums[row * array.cols + col];
      for (std::int64_t i = 0; i < tile.k; ++i) {
        const WrappedSum next =
            int_array_step(array, tile.a[row * tile.k + i], tile.b[i * tile.n + col], sum);
        sum = next.acc;
        result.overflow = result.overflow || next.wrapped;
      }
    }
  }
  return result;
}

}  // namespace mantissa
