#include "sim/units/mac_array.hpp"

#include <algorithm>

#include "models/kernels/mac_row.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_pe.hpp"
#include "sim/units/skip_window.hpp"

namespace mantissa {
namespace {

MacArray configured(const UnitParameters& parameters, const ArrayOptions& options) {
  MacArray array = mac_array_config(parameters);
  if (options.pipe_latency) array.pipe_latency = *options.pipe_latency;
  array.check();
  return array;
}

}  // namespace

MacArray mac_array_config(const UnitParameters& parameters) {
  MacArray array{.skip_window = skip_window_config(parameters),
                 .cols = parameters.at("Cols"),
                 .a = parameters.format("A"),
                 .b = parameters.format("B"),
                 .accumulator = parameters.format("Acc"),
                 .drain = {.to = parameters.format("C")},
                 .pipe_latency = 1 + parameters.at("QuantStages")};
  array.drain.rounding = parameters.rounding("CRound", "CRndBits");
  array.drain.overflow = parameters.at("CSaturate") != 0 ? Overflow::saturate : Overflow::ieee;
  return array;
}

MacArrayUnit::MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
                           const MacArrayOptions& options)
    : MacArrayUnit(name, parameters, configured(parameters, options), options.acc_double_buffer ? 2 : 1) {}

MacArrayUnit::MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
                           const MacArray& array, int tiles)
    : ArrayUnit(name,
                {.skip_window = array.skip_window,
                 .cols = array.cols,
                 .a_bits = array.a.bits(),
                 .b_bits = array.b.bits(),
                 .pipe_latency = array.pipe_latency,
                 .tiles = tiles},
                {Bits(array.cols * array.drain.to.bits()), Bits(array.cols * 5),
                 Bits(array.cols * array.accumulator.bits())}),
      array_(array),
      mac_{.a = array_.a, .b = array_.b, .acc = array_.accumulator},
      leap_(parameters.at("Leap")),
      fp32_sums_(array_.accumulator == formats::fp32),
      a_values_(array_.a),
      b_values_(array_.b),
      bias_i_(*this, "bias_i", 32 * array_.cols),
      scale_i_(*this, "scale_i", 8),
      load_i_(*this, "load_i", 1),
      seed_i_(*this, "seed_i", 32 * array_.cols),
      c_o_(*this, "c_o", array_.cols * array_.drain.to.bits()),
      flags_o_(*this, "flags_o", array_.cols * 5),
      last_o_(*this, "last_o", 1),
      suppressed_o_(*this, "suppressed_o", 1),
      zero_seed_o_(*this, "zero_seed_o", 1),
      tap_o_(*this, "tap_o", array_.cols * array_.accumulator.bits()),
      tiles_(tiles) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    a_zero_[code] = array_.a.is_zero(code & array_.a.code_mask());
    const std::uint32_t b = code & array_.b.code_mask();
    b_special_[code] = array_.b.is_inf(b) || array_.b.is_nan(b);
  }
  clear();
}

void MacArrayUnit::clear() {
  const std::size_t cols = array_.cols;
  staged_a_.assign(words() * array_.rows(), 0);
  staged_b_.assign(words() * cols, 0);
  staged_values_.assign(words() * cols, 0);
  for (TileSums& tile : tiles_) {
    tile = {};
    tile.sums.assign(array_.rows() * cols, 0);
    tile.bias.assign(cols, 0);
  }
  lanes_.assign(cols, Lfsr(1, leap_));
  zero_seed_ = false;
}

// ------------------------------------------------------------------------------------------------ outputs

void MacArrayUnit::fill_row(int row, std::size_t tile_number, std::vector<Bits>& data) {
  const int code_bits = array_.drain.to.bits();
  const int sum_bits = array_.accumulator.bits();
  const TileSums& tile = tiles_[tile_number];
  Conversion drain = array_.drain;
  drain.scale = tile.scale;
  for (int col = 0; col < array_.cols; ++col) {
    const std::uint32_t sum = tile.sums[static_cast<std::size_t>(row) * array_.cols + col];
    const std::uint32_t wide = convert(sum, {.from = array_.accumulator}).code;
    std::uint32_t biased = fp32_add(wide, tile.bias[col]).code;
    if (corrupted("bias")) biased ^= 1U << 22;
    Lfsr lane = lanes_[col];
    Rounded rounded = convert(biased, drain, drain.rounding.stochastic() ? lane.draw() : 0);
    if (corrupted("quantize")) rounded.code ^= 1;
    data[Output::codes_out].set_field(col * code_bits, code_bits, rounded.code);
    data[Output::flags_out].set_field(col * 5, 5, rounded.flags.bits());
    data[Output::sums_out].set_field(col * sum_bits, sum_bits, sum);
  }
}

void MacArrayUnit::show(const OutputRow& row, std::size_t tile) {
  c_o_.write(row.data[Output::codes_out]);
  flags_o_.write(row.data[Output::flags_out]);
  last_o_.put(row.last ? 1 : 0);
  suppressed_o_.put(tiles_[tile].suppressed ? 1 : 0);
  zero_seed_o_.put(zero_seed_ ? 1 : 0);
  tap_o_.write(row.data[Output::sums_out]);
}

void MacArrayUnit::row_left(int row, std::size_t tile) {
  std::fill_n(tiles_[tile].sums.begin() + static_cast<std::ptrdiff_t>(row) * array_.cols, array_.cols, 0);
  if (!array_.drain.rounding.stochastic()) return;
  for (Lfsr& lane : lanes_) lane.draw();
}

// ------------------------------------------------------------------------------------------------ compute

void MacArrayUnit::accumulate_row(int row, int word, std::size_t tile) {
  const std::size_t cols = array_.cols;
  const std::uint8_t a = staged_a_[static_cast<std::size_t>(word) * array_.rows() + row];
  const auto sums = std::span(tiles_[tile].sums).subspan(row * cols, cols);
  if (fp32_sums_) {
    kernels::mac_row(a_values_.value[a], std::span(staged_values_).subspan(word * cols, cols), sums);
  } else {
    const std::uint8_t* b = staged_b_.data() + word * cols;
    for (std::size_t col = 0; col < cols; ++col) sums[col] = fp8_pe(a, b[col], sums[col], mac_);
  }
  if (corrupted("accumulate")) {
    for (std::uint32_t& sum : sums) sum ^= 1U << (mac_.acc.mantissa_bits - 1);
  }
}

void MacArrayUnit::stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) {
  const std::size_t rows = array_.rows();
  const std::size_t cols = array_.cols;
  const auto a = std::span(staged_a_).subspan(word * rows, rows);
  const auto b = std::span(staged_b_).subspan(word * cols, cols);
  a_i_.read().fields(index * array_.rows() * array_.a.bits(), array_.a.bits(), a);
  b_i_.read().fields(index * array_.cols * array_.b.bits(), array_.b.bits(), b);
  bool special = false;
  for (const std::uint8_t code : b) special = special || b_special_[code];
  bool used_zero = false;
  for (int row = 0; row < array_.rows(); ++row) {
    const bool zero = a_zero_[a[row]];
    nonzero[row] = zero ? 0 : 1;
    used_zero = used_zero || (zero && used(row));
  }
  // A zero of A in a row in use that is skipped against Inf or NaN in B.
  if (special && used_zero && skip_i_.value() != 0) tiles_[tile].suppressed = true;
  if (corrupted("stage")) b[0] = static_cast<std::uint8_t>(b[0] ^ array_.b.sign_bit());
  if (!fp32_sums_) return;
  float* values = staged_values_.data() + word * cols;
  for (std::size_t col = 0; col < cols; ++col) values[col] = b_values_.value[b[col]];
}

void MacArrayUnit::beat_taken(std::size_t tile_number, bool last) {
  if (last) {
    TileSums& tile = tiles_[tile_number];
    for (int col = 0; col < array_.cols; ++col) {
      tile.bias[col] = static_cast<std::uint32_t>(bias_i_.read().field(32 * col, 32));
    }
    const auto scale = static_cast<int>(scale_i_.value());
    tile.scale = scale < 0x80 ? scale : scale - 0x100;
  }
  if (load_i_.value() != 0 && array_.drain.rounding.stochastic()) load_lanes();
}

void MacArrayUnit::load_lanes() {
  zero_seed_ = false;
  for (int col = 0; col < array_.cols; ++col) {
    const auto seed = static_cast<std::uint32_t>(seed_i_.read().field(32 * col, 32));
    // The generator refuses state 0; the unit loads 1 in its place and says so (ARITHMETIC.md 3).
    zero_seed_ = zero_seed_ || seed == 0;
    lanes_[col] = Lfsr(seed == 0 ? 1 : seed, leap_);
  }
}

}  // namespace mantissa
