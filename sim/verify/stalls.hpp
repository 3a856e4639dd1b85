// When the bench offers an input and when it takes an output: blocks of full speed, of slow sides and of coin
// tosses.
#pragma once

#include <cstdint>

#include "models/random/stream.hpp"

namespace mantissa::verify {

class Stalls {
 public:
  explicit Stalls(std::uint64_t seed) : seed_(mix(seed)) {}

  void next_cycle(std::uint64_t cycle) {
    if (cycle % 64 == 0) {
      const std::uint64_t dice = mix(seed_ ^ cycle);
      constexpr int rates[] = {256, 256, 128, 32};
      offer_rate_ = rates[dice & 3];
      take_rate_ = rates[dice >> 2 & 3];
    }
    dice_ = mix(seed_ + cycle);
  }
  bool offer(int rate) const { return static_cast<int>(dice_ & 255) * 256 < offer_rate_ * rate; }
  bool take() const { return static_cast<int>(dice_ >> 8 & 255) < take_rate_; }

 private:
  std::uint64_t seed_;
  std::uint64_t dice_ = 0;
  int offer_rate_ = 256;
  int take_rate_ = 256;
};

}  // namespace mantissa::verify
