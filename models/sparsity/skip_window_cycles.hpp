// skip_window cycle by cycle: the beats that come in and the elements that the rows take (ARITHMETIC.md 7,
// "Skip"). skip_schedule() gives the times of the same thing in closed form, for beats that come at once.
#pragma once

#include <cstdint>
#include <deque>
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
  bool ready() const;
  // Some row has a window to work on.
  bool working() const;
  SkipWork work() const;
  // The word of the staging memory, as in SkipWork, that the first slice of a beat would fill now; the others
  // follow.
  int next_word() const { return slot_ * array_.window + staged_; }

  // One cycle passes: the rows finish their work and, if there is a beat, it is staged.
  void advance() { finish_work(); }
  void advance(const SkipBeat& beat);

 private:
  // A staged window as one row sees it.
  struct Window {
    int slot = 0;
    std::deque<int> left;  // k to take, ascending
  };

  void finish_work();
  bool slot_in_use(int slot) const;

  SkipWindow array_;
  std::vector<std::deque<Window>> rows_;   // windows that each row has not finished, oldest first
  std::vector<std::deque<int>> incoming_;  // per row: k to take in the window that is being staged
  int slot_ = 0;                           // being staged, or next
  int staged_ = 0;                         // its slices so far
  bool closing_ = false;                   // the step's last beat is in
};

}  // namespace mantissa
