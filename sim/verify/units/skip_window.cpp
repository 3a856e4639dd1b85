// skip_window: steps of all densities and lengths; each cycle of work as the golden model has it.

#include "sim/units/skip_window.hpp"

#include <algorithm>

#include "sim/units/unit_configs.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class SkipWindowReference : public Reference {
 public:
  explicit SkipWindowReference(const UnitParameters& parameters)
      : array_(skip_window_config(parameters)), window_(array_) {
    for (int count = 0; count <= std::min(array_.port, array_.window); ++count) {
      slice_nonzeros_.push_back(
          coverage_.declare("row has " + std::to_string(count) + " non-zeros in a beat"));
    }
    if (array_.port == 1) coverage_.exclude("beat short", "a beat is one slice");
    if (array_.depth == 1) coverage_.exclude("rows in different slots", "there is one slot");
    if (array_.depth == 1) coverage_.exclude("beat staged while rows work", "the only slot is theirs");
  }

  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    if (left_ == 0) begin_step(index, dice);
    const int in_window = array_.window - (step_k_ - left_) % array_.window;
    const int slices = std::min({array_.port, in_window, left_});
    Bits nonzero(array_.port * array_.rows);
    // Beyond the last slice the bits are not looked at.
    for (int i = 0; i < nonzero.width(); ++i) {
      const bool used = i % array_.rows < rows_in_use_;
      nonzero.set_field(i, 1,
                        i / array_.rows >= slices          ? dice.bits(1)
                        : used && dice.below(8) < density_ ? 1
                                                           : 0);
    }
    left_ -= slices;
    return {nonzero, Bits(slice_count_bits(array_), slices), Bits(1, skip_ ? 1 : 0),
            Bits(1, left_ == 0 ? 1 : 0)};
  }

  // Without valid nothing is looked at.
  Transaction idle(stimulus::Dice& dice) override {
    Bits nonzero(array_.port * array_.rows);
    for (int i = 0; i < nonzero.width(); ++i) nonzero.set_field(i, 1, dice.bits(1));
    return {nonzero, Bits(slice_count_bits(array_), dice.between(1, array_.port)), Bits(1, dice.bits(1)),
            Bits(1, dice.bits(1))};
  }

  void accept(const Transaction& inputs) override {
    SkipBeat beat{.skip = inputs[2].value() != 0, .last = inputs[3].value() != 0};
    for (int slice = 0; slice < static_cast<int>(inputs[1].value()); ++slice) {
      std::vector<bool> rows(array_.rows);
      for (int row = 0; row < array_.rows; ++row) rows[row] = inputs[0].bit(slice * array_.rows + row);
      beat.nonzero.push_back(std::move(rows));
    }
    sample(beat);
    cause_ = inputs;
    if (!window_.ready() || incoming_) {
      too_early_ = true;
      return;
    }
    // While rows work, a beat is taken only in a cycle whose work is taken too, and joins after it.
    if (window_.working()) {
      coverage_.hit(staged_in_work_);
      incoming_ = std::move(beat);
    } else {
      window_.advance(beat);
    }
  }

  std::optional<Expected> next() override {
    if (!window_.working() || too_early_) return std::nullopt;
    const SkipWork work = window_.work();
    sample(work);
    Expected expected{{Bits(index_bits(array_.depth * array_.window), window_.next_word()), enable_bits(work),
                       word_bits(work, array_), Bits(1, work.last ? 1 : 0)},
                      cause_};
    if (incoming_) {
      window_.advance(*incoming_);
      incoming_.reset();
    } else {
      window_.advance();
    }
    return expected;
  }

  bool drained() const override { return !window_.working() && !too_early_; }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"the last beat: " + std::to_string(cause[1].value()) + " slices, skipping " +
            (cause[2].value() != 0 ? "on" : "off") + (cause[3].value() != 0 ? ", the step's last" : "")};
  }

 private:
  void begin_step(std::uint64_t index, stimulus::Dice& dice) {
    const int long_step = array_.window * (array_.depth + 2);
    // One window with nothing to skip, one with everything; then anything.
    step_k_ = index < 2 ? array_.window : dice.between(1, dice.below(2) == 0 ? array_.window + 2 : long_step);
    density_ = index == 0 ? 8 : dice.below(9);
    skip_ = dice.below(4) != 0;
    rows_in_use_ = dice.below(4) == 0 ? dice.between(0, array_.rows) : array_.rows;
    left_ = step_k_;
  }

  void sample(const SkipBeat& beat) {
    const auto slices = static_cast<int>(beat.nonzero.size());
    coverage_.hit(beat.skip ? skip_on_ : skip_off_);
    coverage_.hit(slices == array_.port ? full_beat_ : short_beat_);
    for (int row = 0; row < array_.rows; ++row) {
      int count = 0;
      for (const std::vector<bool>& slice : beat.nonzero) count += slice[row] ? 1 : 0;
      coverage_.hit(slice_nonzeros_[count]);
    }
    accepted_k_ += slices;
    if (!beat.last) return;
    coverage_.hit_if(accepted_k_ <= array_.window, one_window_);
    coverage_.hit_if(accepted_k_ > array_.window * array_.depth, many_windows_);
    accepted_k_ = 0;
  }

  void sample(const SkipWork& work) {
    int taking = 0;
    int lowest = array_.depth;
    int highest = -1;
    for (const int word : work.word) {
      if (word == SkipWork::nothing) continue;
      ++taking;
      lowest = std::min(lowest, word / array_.window);
      highest = std::max(highest, word / array_.window);
    }
    coverage_.hit_if(taking == array_.rows, all_rows_);
    coverage_.hit_if(taking == 0, no_row_);
    coverage_.hit_if(lowest < highest, apart_);
    coverage_.hit_if(work.last, last_);
  }

  SkipWindow array_;
  SkipWindowCycles window_;
  std::optional<SkipBeat> incoming_;  // taken in the cycle of the next work
  bool too_early_ = false;            // the device took a beat that it had no place for
  Transaction cause_;

  // The step that stimulus is in.
  int step_k_ = 0;
  int left_ = 0;
  std::uint64_t density_ = 0;  // of non-zeros, in eighths
  bool skip_ = true;
  int rows_in_use_ = 0;

  int accepted_k_ = 0;  // of the step
  int skip_on_ = coverage_.declare("skipping on");
  int skip_off_ = coverage_.declare("skipping off");
  int full_beat_ = coverage_.declare("beat full");
  int short_beat_ = coverage_.declare("beat short");
  int one_window_ = coverage_.declare("step of one window or less");
  int many_windows_ = coverage_.declare("step of more windows than slots");
  int staged_in_work_ = coverage_.declare("beat staged while rows work");
  int all_rows_ = coverage_.declare("all rows take an element");
  int no_row_ = coverage_.declare("no row takes an element");
  int apart_ = coverage_.declare("rows in different slots");
  int last_ = coverage_.declare("last cycle of a step");
  std::vector<int> slice_nonzeros_;
};

}  // namespace

UnitKind skip_window_kind() {
  return {
      .name = "skip_window",
      .module = "skip_window",
      .what = "which element each row of the array takes in which cycle, zeros of A left out",
      .section = "7",
      .latency = "a window's rows work from the cycle after its last beat",
      .parameters = {{"Rows", 16, "rows of the array"},
                     {"Window", 16, "k per window, at least 2"},
                     {"Depth", 2, "windows staged at a time"},
                     {"Port", 4, "k-slices per beat, at most Window"}},
      .ports = {{"nonzero_i", "Port*Rows", "bit p*Rows+r: slice p of row r is not zero"},
                {"count_i", "$clog2(Port+1)",
                 "slices in this beat; only the last beat of a window may be short"},
                {"skip_i", "1", "off: zeros are taken like everything else"},
                {"last_i", "1", "this beat ends the step"},
                {"stage_o", "$clog2(Depth*Window)",
                 "word of the staging memory that takes the first slice: slot*Window+k"},
                {"enable_o", "Rows", "the row takes an element"},
                {"word_o", "Rows*$clog2(Depth*Window)", "from this word; 0 unless enabled"},
                {"last_o", "1", "the last cycle of the step"}},
      .configurations = {{"16 rows", {}},
                         {"4 rows", {{"Rows", 4}}},
                         {"depth 1", {{"Rows", 5}, {"Depth", 1}, {"Port", 3}}},
                         {"depth 4", {{"Rows", 8}, {"Depth", 4}, {"Port", 16}}},
                         {"port 1", {{"Rows", 4}, {"Window", 8}, {"Depth", 4}, {"Port", 1}}}},
      .systemc = make_skip_window,
      .reference = [](const UnitParameters& p) { return std::make_unique<SkipWindowReference>(p); },
  };
}

}  // namespace mantissa::verify
