#include "sim/units/skip_window.hpp"

#include <bit>

namespace mantissa {

SkipWindow skip_window_config(const UnitParameters& parameters) {
  return {.rows = parameters.at("Rows"),
          .window = parameters.at("Window"),
          .depth = parameters.at("Depth"),
          .port = parameters.at("Port")};
}

int index_bits(int count) { return std::bit_width(static_cast<unsigned>(count - 1)); }

int slice_count_bits(const SkipWindow& array) { return index_bits(array.port + 1); }

Bits enable_bits(const SkipWork& work) {
  Bits bits(static_cast<int>(work.word.size()));
  for (std::size_t row = 0; row < work.word.size(); ++row) {
    bits.set_field(static_cast<int>(row), 1, work.word[row] == SkipWork::nothing ? 0 : 1);
  }
  return bits;
}

Bits word_bits(const SkipWork& work, const SkipWindow& array) {
  const int width = index_bits(array.depth * array.window);
  Bits bits(array.rows * width);
  for (int row = 0; row < array.rows; ++row) {
    if (work.word[row] != SkipWork::nothing) bits.set_field(row * width, width, work.word[row]);
  }
  return bits;
}

SkipWindowUnit::SkipWindowUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name, Follows::ready),
      array_(skip_window_config(parameters)),
      nonzero_i_(*this, "nonzero_i", array_.port * array_.rows),
      count_i_(*this, "count_i", slice_count_bits(array_)),
      skip_i_(*this, "skip_i", 1),
      last_i_(*this, "last_i", 1),
      stage_o_(*this, "stage_o", index_bits(array_.depth * array_.window)),
      enable_o_(*this, "enable_o", array_.rows),
      word_o_(*this, "word_o", array_.rows * index_bits(array_.depth * array_.window)),
      last_o_(*this, "last_o", 1),
      window_(array_) {}

void SkipWindowUnit::corrupt(std::string_view stage) { corrupt_ = stage; }

SkipBeat SkipWindowUnit::beat() const {
  SkipBeat beat{.skip = skip_i_.value() != 0, .last = last_i_.value() != 0};
  const Bits& nonzero = nonzero_i_.read();
  for (std::uint64_t slice = 0; slice < count_i_.value(); ++slice) {
    std::vector<bool> rows(array_.rows);
    for (int row = 0; row < array_.rows; ++row) {
      rows[row] = nonzero.bit(static_cast<int>(slice) * array_.rows + row);
    }
    if (corrupt_ == "stage") rows[0] = !rows[0];
    beat.nonzero.push_back(std::move(rows));
  }
  return beat;
}

// Work that is offered and not taken holds everything.
bool SkipWindowUnit::stalled() const { return window_.working() && !ready_i.read(); }

bool SkipWindowUnit::takes_beat() const { return valid_i.read() && window_.ready() && !stalled(); }

void SkipWindowUnit::evaluate() {
  ready_o.write(window_.ready() && !stalled());
  valid_o.write(window_.working());
  SkipWork work = window_.work();
  if (corrupt_ == "select" && work.word[0] != SkipWork::nothing) work.word[0] ^= 1;
  stage_o_.put(window_.next_word());
  enable_o_.write(enable_bits(work));
  word_o_.write(word_bits(work, array_));
  last_o_.put(work.last ? 1 : 0);
}

void SkipWindowUnit::reset() { window_ = SkipWindowCycles(array_); }

void SkipWindowUnit::advance() {
  if (takes_beat()) {
    window_.advance(beat());
  } else if (!stalled()) {
    window_.advance();
  }
}

}  // namespace mantissa
