#include "sim/train/schedule.hpp"

#include <algorithm>

namespace mantissa::train {

// Only operations that every machine rounds alike: no cosine.
float Schedule::at(std::int64_t step) const {
  const double start = peak / 25;
  const double end = peak / 1e4;
  const double top = std::max(1.0, warm_up * static_cast<double>(steps));
  const auto now = static_cast<double>(step);
  if (now < top) return static_cast<float>(start + (peak - start) * (now / top));
  const double left = std::max(1.0, static_cast<double>(steps) - top);
  return static_cast<float>(peak + (end - peak) * std::min(1.0, (now - top) / left));
}

}  // namespace mantissa::train
