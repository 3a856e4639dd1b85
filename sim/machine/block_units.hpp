// The units of the second machine as JobClock wants them: the array, and what has a clock of its own beside
// it.
#pragma once

#include <optional>
#include <string>

#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/line_unpacker.hpp"

namespace mantissa {

// Keeps references.
class BlockUnits {
 public:
  // `unpacker`: nullptr where no line is packed.
  BlockUnits(BlockArraySlot& array, LineUnpacker* unpacker) : array_(array), unpacker_(unpacker) {}

  void clock(bool level) { array_.clock(level); }
  void reset(bool active) {
    array_.reset(active);
    if (unpacker_ != nullptr) unpacker_->reset(active);
  }
  void offer(bool valid) { array_.offer(valid); }
  void take(bool ready) { array_.take(ready); }

  std::optional<Mismatch> compare() {
    std::optional<Mismatch> mismatch = array_.compare();
    unpacker_differs_ = !mismatch && unpacker_ != nullptr && unpacker_->compare();
    return unpacker_differs_ ? unpacker_->compare() : mismatch;
  }
  // Of the last difference.
  bool unpacker_differs() const { return unpacker_differs_; }

 private:
  BlockArraySlot& array_;
  LineUnpacker* unpacker_;
  bool unpacker_differs_ = false;
};

}  // namespace mantissa
