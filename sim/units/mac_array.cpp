#include "sim/units/mac_array.hpp"

#include <algorithm>

#include "models/kernels/mac_row.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_pe.hpp"
#include "sim/units/skip_window.hpp"

namespace mantissa {
namespace {

MacArray configured(const UnitParameters& parameters, const MacArrayOptions& options) {
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
  array.drain.rounding = {static_cast<Rounding::Mode>(parameters.at("CRound")), parameters.at("CRndBits")};
  array.drain.overflow = parameters.at("CSaturate") != 0 ? Overflow::saturate : Overflow::ieee;
  return array;
}

MacArrayUnit::MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
                           const MacArrayOptions& options)
    : ClockedUnit(name, Follows::nothing),
      array_(configured(parameters, options)),
      mac_{.a = array_.a, .b = array_.b, .acc = array_.accumulator},
      leap_(parameters.at("Leap")),
      fp32_sums_(array_.accumulator == formats::fp32),
      a_values_(array_.a),
      b_values_(array_.b),
      a_i_(*this, "a_i", array_.skip_window.port * array_.rows() * array_.a.bits()),
      b_i_(*this, "b_i", array_.skip_window.port * array_.cols * array_.b.bits()),
      count_i_(*this, "count_i", slice_count_bits(array_.skip_window)),
      used_i_(*this, "used_i", array_.rows()),
      skip_i_(*this, "skip_i", 1),
      last_i_(*this, "last_i", 1),
      drain_i_(*this, "drain_i", 1),
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
      window_(array_.skip_window),
      tiles_(options.acc_double_buffer ? 2 : 1),
      pipe_(std::max(array_.pipe_latency - 1, 0)) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    a_zero_[code] = array_.a.is_zero(code & array_.a.code_mask());
    const std::uint32_t b = code & array_.b.code_mask();
    b_special_[code] = array_.b.is_inf(b) || array_.b.is_nan(b);
  }
  clear();
}

void MacArrayUnit::corrupt(std::string_view stage) { corrupt_ = stage; }

void MacArrayUnit::reset() { clear(); }

void MacArrayUnit::clear() {
  const std::size_t rows = array_.rows();
  const std::size_t cols = array_.cols;
  const std::size_t words = static_cast<std::size_t>(array_.skip_window.depth) * array_.skip_window.window;
  window_ = SkipWindowCycles(array_.skip_window);
  staged_a_.assign(words * rows, 0);
  staged_b_.assign(words * cols, 0);
  staged_values_.assign(words * cols, 0);
  nonzero_.assign(array_.skip_window.port * rows, 0);
  used_.assign(rows, false);
  operands_.assign(rows, nothing);
  operands_busy_ = false;
  step_active_ = false;
  for (TileSums& tile : tiles_) {
    tile = {};
    tile.sums.assign(rows * cols, 0);
    tile.bias.assign(cols, 0);
  }
  computing_ = 0;
  draining_ = 0;
  drain_ = Drain::idle;
  row_ = 0;
  row_known_ = false;
  row_out_ = {.codes = Bits(array_.cols * array_.drain.to.bits()),
              .flags = Bits(array_.cols * 5),
              .sums = Bits(array_.cols * array_.accumulator.bits())};
  for (OutputRow& row : pipe_) row = row_out_;
  lanes_.assign(cols, Lfsr(1, leap_));
  zero_seed_ = false;
}

// ------------------------------------------------------------------------------------------------ outputs

bool MacArrayUnit::row_taken() const {
  if (!row_offered()) return false;
  return ready_i.read() ||
         std::any_of(pipe_.begin(), pipe_.end(), [](const OutputRow& row) { return !row.valid; });
}

const MacArrayUnit::OutputRow& MacArrayUnit::offered_row() {
  row_out_.valid = row_offered();
  if (row_known_ || !row_out_.valid) return row_out_;
  const int code_bits = array_.drain.to.bits();
  const int sum_bits = array_.accumulator.bits();
  const TileSums& tile = tiles_[draining_];
  Conversion drain = array_.drain;
  drain.scale = tile.scale;
  for (int col = 0; col < array_.cols; ++col) {
    const std::uint32_t sum = tile.sums[static_cast<std::size_t>(row_) * array_.cols + col];
    const std::uint32_t wide = convert(sum, {.from = array_.accumulator}).code;
    std::uint32_t biased = fp32_add(wide, tile.bias[col]).code;
    if (corrupt_ == "bias") biased ^= 1U << 22;
    Lfsr lane = lanes_[col];
    Rounded rounded = convert(biased, drain, drain.rounding.stochastic() ? lane.draw() : 0);
    if (corrupt_ == "quantize") rounded.code ^= 1;
    row_out_.codes.set_field(col * code_bits, code_bits, rounded.code);
    row_out_.flags.set_field(col * 5, 5, rounded.flags.bits());
    row_out_.sums.set_field(col * sum_bits, sum_bits, sum);
  }
  row_out_.last = row_ == array_.rows() - 1;
  row_known_ = true;
  return row_out_;
}

void MacArrayUnit::evaluate() {
  ready_o.write(array_ready());
  const OutputRow& row = output();
  valid_o.write(row.valid);
  if (!row.valid) return;
  c_o_.write(row.codes);
  flags_o_.write(row.flags);
  last_o_.put(row.last ? 1 : 0);
  suppressed_o_.put(tiles_[draining_].suppressed ? 1 : 0);
  zero_seed_o_.put(zero_seed_ ? 1 : 0);
  tap_o_.write(row.sums);
}

// Every register that is empty or gives its row away takes the one before it.
void MacArrayUnit::shift_pipe() {
  bool room = ready_i.read();
  for (std::size_t i = pipe_.size(); i-- > 0;) {
    room = room || !pipe_[i].valid;
    if (!room) continue;
    if (i > 0) {
      std::swap(pipe_[i], pipe_[i - 1]);
      pipe_[i - 1].valid = false;
    } else {
      pipe_[0] = offered_row();
    }
  }
}

// ------------------------------------------------------------------------------------------------ compute

void MacArrayUnit::accumulate_row(int row, int word, TileSums& tile) {
  const std::size_t cols = array_.cols;
  const std::uint8_t a = staged_a_[static_cast<std::size_t>(word) * array_.rows() + row];
  const auto sums = std::span(tile.sums).subspan(row * cols, cols);
  if (fp32_sums_) {
    kernels::mac_row(a_values_.value[a], std::span(staged_values_).subspan(word * cols, cols), sums);
  } else {
    const std::uint8_t* b = staged_b_.data() + word * cols;
    for (std::size_t col = 0; col < cols; ++col) sums[col] = fp8_pe(a, b[col], sums[col], mac_);
  }
  if (corrupt_ == "accumulate") {
    for (std::uint32_t& sum : sums) sum ^= 1U << (mac_.acc.mantissa_bits - 1);
  }
}

// The products in the operand registers join their sums.
void MacArrayUnit::accumulate() {
  if (!operands_busy_) return;
  for (int row = 0; row < array_.rows(); ++row) {
    if (operands_[row] != nothing) accumulate_row(row, operands_[row], tiles_[operands_tile_]);
  }
  operands_busy_ = false;
}

void MacArrayUnit::select() {
  if (!window_.working()) return;
  for (int row = 0; row < array_.rows(); ++row) {
    operands_[row] = window_.word(row);
    if (operands_[row] != nothing && used_[row]) ++elements_taken_;
  }
  operands_busy_ = true;
  operands_tile_ = computing_;
  if (array_.pipe_latency == 0) accumulate();
}

void MacArrayUnit::stage_slice(int index, int word) {
  const std::size_t rows = array_.rows();
  const std::size_t cols = array_.cols;
  const auto a = std::span(staged_a_).subspan(word * rows, rows);
  const auto b = std::span(staged_b_).subspan(word * cols, cols);
  a_i_.read().fields(index * array_.rows() * array_.a.bits(), array_.a.bits(), a);
  b_i_.read().fields(index * array_.cols * array_.b.bits(), array_.b.bits(), b);
  bool special = false;
  for (const std::uint8_t code : b) special = special || b_special_[code];
  bool used_zero = false;
  for (std::size_t row = 0; row < rows; ++row) {
    const bool zero = a_zero_[a[row]];
    nonzero_[index * rows + row] = zero ? 0 : 1;
    used_zero = used_zero || (zero && used_[row]);
  }
  // A zero of A in a row in use that is skipped against Inf or NaN in B.
  if (special && used_zero && skip_i_.value() != 0) tiles_[computing_].suppressed = true;
  if (corrupt_ == "stage") b[0] = static_cast<std::uint8_t>(b[0] ^ array_.b.sign_bit());
  if (!fp32_sums_) return;
  float* values = staged_values_.data() + word * cols;
  for (std::size_t col = 0; col < cols; ++col) values[col] = b_values_.value[b[col]];
}

void MacArrayUnit::take_tile(TileSums& tile) {
  tile.drain = drain_i_.value() != 0;
  for (int col = 0; col < array_.cols; ++col) {
    tile.bias[col] = static_cast<std::uint32_t>(bias_i_.read().field(32 * col, 32));
  }
  const auto scale = static_cast<int>(scale_i_.value());
  tile.scale = scale < 0x80 ? scale : scale - 0x100;
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

void MacArrayUnit::take_beat() {
  const int slices = static_cast<int>(count_i_.value());
  const bool last = last_i_.value() != 0;
  for (int row = 0; row < array_.rows(); ++row) used_[row] = used_i_.read().bit(row);
  for (int i = 0; i < slices; ++i) stage_slice(i, window_.next_word() + i);
  window_.advance(std::span(nonzero_).first(static_cast<std::size_t>(slices) * array_.rows()),
                  skip_i_.value() != 0, last);
  step_active_ = true;
  if (last) take_tile(tiles_[computing_]);
  if (load_i_.value() != 0 && array_.drain.rounding.stochastic()) load_lanes();
}

// -------------------------------------------------------------------------------------------- clock edge

void MacArrayUnit::advance_drain(bool row_leaves, bool drained) {
  if (drain_ == Drain::settle) drain_ = Drain::send;
  if (row_leaves) {
    TileSums& tile = tiles_[draining_];
    std::fill_n(tile.sums.begin() + static_cast<std::ptrdiff_t>(row_) * array_.cols, array_.cols, 0);
    if (array_.drain.rounding.stochastic()) {
      for (Lfsr& lane : lanes_) lane.draw();
    }
    if (row_ == array_.rows() - 1) drain_ = Drain::flush;
    row_ = (row_ + 1) % array_.rows();
    row_known_ = false;
  }
  if (drained) {
    tiles_[draining_].complete = false;
    tiles_[draining_].suppressed = false;
    draining_ = (draining_ + 1) % tiles_.size();
    drain_ = Drain::idle;
  }
  if (drain_ == Drain::idle && tiles_[draining_].complete) {
    drain_ = array_.pipe_latency == 0 ? Drain::send : Drain::settle;
  }
}

void MacArrayUnit::advance() {
  const bool beat_taken = valid_i.read() && array_ready();
  const bool row_leaves = row_taken();
  const OutputRow& leaving = output();
  const bool drained = leaving.valid && ready_i.read() && leaving.last;
  shift_pipe();

  accumulate();
  const bool step_ends = window_.working() && window_.last();
  select();
  if (step_ends) {
    step_active_ = false;
    if (tiles_[computing_].drain) {
      tiles_[computing_].complete = true;
      computing_ = (computing_ + 1) % tiles_.size();
    }
  }
  if (beat_taken) {
    take_beat();
  } else {
    window_.advance();
  }
  advance_drain(row_leaves, drained);
}

}  // namespace mantissa
