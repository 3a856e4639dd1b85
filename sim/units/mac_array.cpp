#include "sim/units/mac_array.hpp"

#include <algorithm>

#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_pe.hpp"
#include "sim/units/skip_window.hpp"

namespace mantissa {

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

MacArrayUnit::MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name, Follows::nothing),
      array_(mac_array_config(parameters)),
      mac_{.a = array_.a, .b = array_.b, .acc = array_.accumulator},
      leap_(parameters.at("Leap")),
      quantizer_register_(parameters.at("QuantStages") != 0),
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
      window_(array_.skip_window) {
  array_.check();
  clear();
}

void MacArrayUnit::corrupt(std::string_view stage) { corrupt_ = stage; }

void MacArrayUnit::reset() { clear(); }

void MacArrayUnit::clear() {
  state_ = State::compute;
  window_ = SkipWindowCycles(array_.skip_window);
  staged_.assign(static_cast<std::size_t>(array_.skip_window.depth) * array_.skip_window.window, {});
  operands_.assign(array_.rows(), std::nullopt);
  sums_.assign(static_cast<std::size_t>(array_.rows()) * array_.cols, 0);
  tile_ = {.bias = std::vector<std::uint32_t>(array_.cols)};
  row_ = 0;
  cleared_row_ = -1;
  lanes_.assign(array_.cols, Lfsr(1, leap_));
  zero_seed_ = false;
  quantizing_.reset();
}

MacArrayUnit::Slice MacArrayUnit::slice(int index) const {
  Slice slice;
  const auto elements = [index](const Bits& bits, int count, int width) {
    std::vector<std::uint8_t> codes(count);
    for (int i = 0; i < count; ++i) {
      codes[i] = static_cast<std::uint8_t>(bits.field((index * count + i) * width, width));
    }
    return codes;
  };
  slice.a = elements(a_i_.read(), array_.rows(), array_.a.bits());
  slice.b = elements(b_i_.read(), array_.cols, array_.b.bits());
  return slice;
}

// A zero of A in a row in use that is skipped against Inf or NaN in B.
bool MacArrayUnit::suppresses(const Slice& slice) const {
  const bool special = std::any_of(slice.b.begin(), slice.b.end(), [this](std::uint8_t b) {
    return array_.b.is_inf(b) || array_.b.is_nan(b);
  });
  if (!special || skip_i_.value() == 0) return false;
  for (int row = 0; row < array_.rows(); ++row) {
    if (used_i_.read().bit(row) && array_.a.is_zero(slice.a[row])) return true;
  }
  return false;
}

bool MacArrayUnit::row_taken() const {
  return row_offered() && (ready_i.read() || (quantizer_register_ && !quantizing_));
}

MacArrayUnit::OutputRow MacArrayUnit::quantized_row() const {
  const int code_bits = array_.drain.to.bits();
  const int sum_bits = array_.accumulator.bits();
  Conversion drain = array_.drain;
  drain.scale = tile_.scale;
  OutputRow out{.codes = Bits(array_.cols * code_bits),
                .flags = Bits(array_.cols * 5),
                .sums = Bits(array_.cols * sum_bits),
                .last = row_ == array_.rows() - 1};
  for (int col = 0; col < array_.cols; ++col) {
    const std::uint32_t sum = sums_[row_ * array_.cols + col];
    const std::uint32_t wide = convert(sum, {.from = array_.accumulator}).code;
    std::uint32_t biased = fp32_add(wide, tile_.bias[col]).code;
    if (corrupt_ == "bias") biased ^= 1U << 22;
    Lfsr lane = lanes_[col];
    Rounded rounded = convert(biased, drain, drain.rounding.stochastic() ? lane.draw() : 0);
    if (corrupt_ == "quantize") rounded.code ^= 1;
    out.codes.set_field(col * code_bits, code_bits, rounded.code);
    out.flags.set_field(col * 5, 5, rounded.flags.bits());
    out.sums.set_field(col * sum_bits, sum_bits, sum);
  }
  return out;
}

std::optional<MacArrayUnit::OutputRow> MacArrayUnit::output() const {
  if (quantizer_register_) return quantizing_;
  if (row_offered()) return quantized_row();
  return std::nullopt;
}

void MacArrayUnit::evaluate() {
  ready_o.write(window_.ready() && state_ == State::compute);
  const std::optional<OutputRow> row = output();
  valid_o.write(row.has_value());
  if (!row) return;
  c_o_.write(row->codes);
  flags_o_.write(row->flags);
  last_o_.put(row->last ? 1 : 0);
  suppressed_o_.put(tile_.suppressed ? 1 : 0);
  zero_seed_o_.put(zero_seed_ ? 1 : 0);
  tap_o_.write(row->sums);
}

// The products in the operand registers join their sums; a row that was sent starts again.
void MacArrayUnit::accumulate() {
  for (int row = 0; row < array_.rows(); ++row) {
    for (int col = 0; col < array_.cols; ++col) {
      std::uint32_t& sum = sums_[row * array_.cols + col];
      if (row == cleared_row_) sum = 0;
      if (!operands_[row]) continue;
      sum = fp8_pe(operands_[row]->a, operands_[row]->b[col], sum, mac_);
      if (corrupt_ == "accumulate") sum ^= 1U << (mac_.acc.mantissa_bits - 1);
    }
  }
}

void MacArrayUnit::select() {
  const SkipWork work = window_.work();
  for (int row = 0; row < array_.rows(); ++row) {
    operands_[row].reset();
    if (work.word[row] == SkipWork::nothing) continue;
    const Slice& word = staged_[work.word[row]];
    operands_[row] = {word.a[row], word.b};
  }
}

void MacArrayUnit::take_beat() {
  SkipBeat beat{.skip = skip_i_.value() != 0, .last = last_i_.value() != 0};
  for (int i = 0; i < static_cast<int>(count_i_.value()); ++i) {
    Slice& staged = staged_[window_.next_word() + i];
    staged = slice(i);
    tile_.suppressed = tile_.suppressed || suppresses(staged);
    std::vector<bool> nonzero;
    for (const std::uint8_t a : staged.a) nonzero.push_back(!array_.a.is_zero(a));
    beat.nonzero.push_back(std::move(nonzero));
    if (corrupt_ == "stage") staged.b[0] = static_cast<std::uint8_t>(staged.b[0] ^ array_.b.sign_bit());
  }
  window_.advance(beat);
  if (last_i_.value() != 0) {
    tile_.drain = drain_i_.value() != 0;
    for (int col = 0; col < array_.cols; ++col) {
      tile_.bias[col] = static_cast<std::uint32_t>(bias_i_.read().field(32 * col, 32));
    }
    const auto scale = static_cast<int>(scale_i_.value());
    tile_.scale = scale < 0x80 ? scale : scale - 0x100;
  }
  if (load_i_.value() != 0 && array_.drain.rounding.stochastic()) {
    zero_seed_ = false;
    for (int col = 0; col < array_.cols; ++col) {
      const auto seed = static_cast<std::uint32_t>(seed_i_.read().field(32 * col, 32));
      // The generator refuses state 0; the unit loads 1 in its place and says so (ARITHMETIC.md 3).
      zero_seed_ = zero_seed_ || seed == 0;
      lanes_[col] = Lfsr(seed == 0 ? 1 : seed, leap_);
    }
  }
}

void MacArrayUnit::advance() {
  if (!rst_ni.read()) {
    reset();
    return;
  }
  const bool beat_taken = takes_beat();
  const bool row_leaves = row_taken();
  const std::optional<OutputRow> leaving = output();
  const bool drained = leaving && ready_i.read() && leaving->last;
  if (quantizer_register_ && (row_leaves || ready_i.read())) {
    quantizing_ = row_leaves ? std::optional(quantized_row()) : std::nullopt;
  }

  accumulate();
  cleared_row_ = row_leaves ? row_ : -1;
  if (window_.working() && window_.work().last && tile_.drain) {
    state_ = State::settle;
  } else if (state_ == State::settle) {
    state_ = State::send;
  }
  select();
  if (beat_taken) {
    take_beat();
  } else {
    window_.advance();
  }

  if (row_leaves) {
    if (array_.drain.rounding.stochastic()) {
      for (Lfsr& lane : lanes_) lane.draw();
    }
    if (row_ == array_.rows() - 1) state_ = State::flush;
    row_ = (row_ + 1) % array_.rows();
  }
  if (drained) {
    state_ = State::compute;
    tile_.suppressed = false;
  }
}

}  // namespace mantissa
