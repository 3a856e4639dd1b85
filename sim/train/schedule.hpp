// The one-cycle learning rate: up to its peak in a straight line, then down to almost nothing.
#pragma once

#include <cstdint>

namespace mantissa::train {

struct Schedule {
  double peak = 0.1;
  std::int64_t steps = 1;  // of the whole run
  double warm_up = 0.3;    // share of the steps on the way up, which starts at peak / 25

  float at(std::int64_t step) const;
};

}  // namespace mantissa::train
