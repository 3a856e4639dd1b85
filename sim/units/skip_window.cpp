// skip_window in SystemC: beats in, one cycle of work of all rows out.
#include "sim/units/skip_window.hpp"

#include <bit>

#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class SkipWindowUnit : public ClockedUnit {
 public:
  SkipWindowUnit(const sc_core::sc_module_name& name, const SkipWindow& array)
      : ClockedUnit(name, Follows::ready), array_(array), window_(array) {}

  std::vector<std::string> stages() const override { return {"stage", "select"}; }

 private:
  SkipBeat beat() const {
    SkipBeat beat{.skip = skip_i_.value() != 0, .last = last_i_.value() != 0};
    const Bits& nonzero = nonzero_i_.read();
    for (std::uint64_t slice = 0; slice < count_i_.value(); ++slice) {
      std::vector<bool> rows(array_.rows);
      for (int row = 0; row < array_.rows; ++row) {
        rows[row] = nonzero.bit(static_cast<int>(slice) * array_.rows + row);
      }
      if (corrupted("stage")) rows[0] = !rows[0];
      beat.nonzero.push_back(std::move(rows));
    }
    return beat;
  }

  // Work that is offered and not taken holds everything.
  bool stalled() const { return window_.working() && !ready_i.read(); }
  bool takes_beat() const { return valid_i.read() && window_.ready() && !stalled(); }

  void evaluate() override {
    ready_o.write(window_.ready() && !stalled());
    valid_o.write(window_.working());
    SkipWork work = window_.work();
    if (corrupted("select") && work.word[0] != SkipWork::nothing) work.word[0] ^= 1;
    stage_o_.put(window_.next_word());
    enable_o_.write(enable_bits(work));
    word_o_.write(word_bits(work, array_));
    last_o_.put(work.last ? 1 : 0);
  }

  void advance() override {
    if (takes_beat()) {
      window_.advance(beat());
    } else if (!stalled()) {
      window_.advance();
    }
  }

  void reset() override { window_ = SkipWindowCycles(array_); }

  SkipWindow array_;
  DataIn nonzero_i_{*this, "nonzero_i", array_.port* array_.rows};
  DataIn count_i_{*this, "count_i", slice_count_bits(array_)};
  DataIn skip_i_{*this, "skip_i", 1};
  DataIn last_i_{*this, "last_i", 1};
  DataOut stage_o_{*this, "stage_o", index_bits(array_.depth* array_.window)};
  DataOut enable_o_{*this, "enable_o", array_.rows};
  DataOut word_o_{*this, "word_o", array_.rows* index_bits(array_.depth* array_.window)};
  DataOut last_o_{*this, "last_o", 1};
  SkipWindowCycles window_;
};

}  // namespace

std::unique_ptr<UnitModule> make_skip_window(const char* name, const UnitParameters& parameters) {
  return std::make_unique<SkipWindowUnit>(name, skip_window_config(parameters));
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

}  // namespace mantissa
