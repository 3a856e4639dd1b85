#include "models/sparsity/skip_window_cycles.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mantissa {

SkipWindowCycles::SkipWindowCycles(const SkipWindow& array) : array_(array) {
  array.check();
  rows_.resize(array.rows);
  incoming_.resize(array.rows);
}

bool SkipWindowCycles::slot_in_use(int slot) const {
  return std::any_of(rows_.begin(), rows_.end(), [slot](const std::deque<Window>& windows) {
    return std::any_of(windows.begin(), windows.end(), [slot](const Window& w) { return w.slot == slot; });
  });
}

bool SkipWindowCycles::ready() const { return !closing_ && !slot_in_use(slot_); }

bool SkipWindowCycles::working() const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [](const std::deque<Window>& windows) { return !windows.empty(); });
}

SkipWork SkipWindowCycles::work() const {
  SkipWork work{.word = std::vector<int>(array_.rows, SkipWork::nothing), .last = closing_};
  for (int row = 0; row < array_.rows; ++row) {
    const std::deque<Window>& windows = rows_[row];
    if (windows.empty()) continue;
    const Window& window = windows.front();
    if (!window.left.empty()) work.word[row] = window.slot * array_.window + window.left.front();
    // A window without elements takes one cycle too.
    if (windows.size() > 1 || window.left.size() > 1) work.last = false;
  }
  return work;
}

void SkipWindowCycles::finish_work() {
  if (working() && work().last) closing_ = false;
  for (std::deque<Window>& windows : rows_) {
    if (windows.empty()) continue;
    std::deque<int>& left = windows.front().left;
    if (!left.empty()) left.pop_front();
    if (left.empty()) windows.pop_front();
  }
}

void SkipWindowCycles::advance(const SkipBeat& beat) {
  const auto slices = static_cast<int>(beat.nonzero.size());
  if (!ready()) throw std::logic_error("a beat that the skip window is not ready for");
  if (slices < 1 || slices > array_.port || staged_ + slices > array_.window) {
    throw std::invalid_argument("a beat of " + std::to_string(slices) + " slices after " +
                                std::to_string(staged_) + " of a window of " + std::to_string(array_.window));
  }
  finish_work();
  for (const std::vector<bool>& slice : beat.nonzero) {
    for (int row = 0; row < array_.rows; ++row) {
      if (slice.at(row) || !beat.skip) incoming_[row].push_back(staged_);
    }
    ++staged_;
  }
  if (staged_ < array_.window && !beat.last) return;
  for (int row = 0; row < array_.rows; ++row) {
    rows_[row].push_back({slot_, std::move(incoming_[row])});
    incoming_[row].clear();
  }
  slot_ = (slot_ + 1) % array_.depth;
  staged_ = 0;
  closing_ = beat.last;
}

}  // namespace mantissa
