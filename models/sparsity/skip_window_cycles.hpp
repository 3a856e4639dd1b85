// skip_window cycle by cycle: the beats that come in and the elements that the rows take (ARITHMETIC.md 7,
// "Skip"). skip_schedule() gives the times of the same thing in closed form, for beats that come at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sparsity/skip_window.hpp"

namespace mantissa {

// Up to `port` k-slices. A window takes its slices in order; only the last beat of a window may be short.
struct SkipBeat {
  std::vector<std::vector<bool>> nonzero = {};  // per slice, per row
  bool skip = true;
  bool last = false;  // ends the step
  friend bool operator==(const SkipBeat&, const SkipBeat&) = default;
};

// What the rows do in a cycle.
struct SkipWork {
  static constexpr int nothing = -1;
  std::vector<int> word;  // per row: slot * window + k of the element that it takes
  bool last = false;      // the last cycle of a step
  friend bool operator==(const SkipWork&, const SkipWork&) = default;
};

class SkipWindowCycles {
 public:
  // Throws what SkipWindow::check throws. Its `skip` is not looked at: every beat has its own.
  explicit SkipWindowCycles(const SkipWindow& array);

  // The port has a free slot, and no row works on an older step.
  bool ready() const { return !closing_ && slot_rows_[slot_] == 0; }
  // Some row has a window to work on.
  bool working() const { return rows_working_ != 0; }
  SkipWork work() const;
  // The same piece by piece, for who asks in every cycle.
  int word(int row) const;
  bool last() const;
  // The word of the staging memory, as in SkipWork, that the first slice of a beat would fill now; the others
  // follow.
  int next_word() const { return slot_ * array_.window + staged_; }

  // One cycle passes: the rows finish their work and, if there is a beat, it is staged.
  void advance() { finish_work(); }
  void advance(const SkipBeat& beat);
  // The same beat as bytes, slice by slice, 0 where a row's element is zero.
  void advance(std::span<const std::uint8_t> nonzero, bool skip, bool last);

 private:
  // A row goes through the slots in a circle; it has still to finish `windows` of them, this one first.
  struct Row {
    int slot = 0;
    int windows = 0;
  };

  void finish_work();
  // The elements that a row has still to take of the window in a slot, one bit each.
  std::span<std::uint64_t> left(int slot, int row) {
    return std::span(left_).subspan((static_cast<std::size_t>(slot) * array_.rows + row) * mask_words_,
                                    mask_words_);
  }
  std::span<const std::uint64_t> left(int slot, int row) const {
    return std::span(left_).subspan((static_cast<std::size_t>(slot) * array_.rows + row) * mask_words_,
                                    mask_words_);
  }

  SkipWindow array_;
  std::size_t mask_words_;
  std::vector<std::uint64_t> left_;
  std::vector<Row> rows_;
  std::vector<int> slot_rows_;  // per slot: rows that have not finished its window
  int rows_working_ = 0;
  int slot_ = 0;          // being staged, or next
  int staged_ = 0;        // its slices so far
  bool closing_ = false;  // the step's last beat is in
};

}  // namespace mantissa
