// Whether an array of RTL works on a run: no port of block_array tells when one ends. A golden skip window
// takes the same beats beside it.
#pragma once

#include <cstdint>
#include <span>

#include "models/sparsity/skip_window_cycles.hpp"

namespace mantissa {

// A beat as the skip window sees it: slice by slice a byte per row, 0 where nothing is to be taken.
struct WatchedBeat {
  std::span<const std::uint8_t> nonzero;
  bool skip = true;
  bool last = false;
};

class BlockRunWatch {
 public:
  explicit BlockRunWatch(const SkipWindow& array) : array_(array), window_(array) {}

  bool computes() const { return computes_; }
  void reset() {
    window_ = SkipWindowCycles(array_);
    computes_ = false;
  }
  // A clock edge, at which the array takes this beat, or none.
  void advance(const WatchedBeat* beat) {
    if (window_.working() && window_.last()) computes_ = false;
    if (beat == nullptr) {
      window_.advance();
      return;
    }
    window_.advance(beat->nonzero, beat->skip, beat->last);
    computes_ = true;
  }

 private:
  SkipWindow array_;
  SkipWindowCycles window_;
  bool computes_ = false;
};

}  // namespace mantissa
