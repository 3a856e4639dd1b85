// What the numbers of a tensor are like.
#pragma once

#include <cstdint>

#include "sim/trace/safetensors.hpp"

namespace mantissa::trace {

struct Statistics {
  std::uint64_t elements = 0;
  std::uint64_t zeros = 0;
  std::uint64_t nonfinite = 0;  // left out of all that follows
  float smallest = 0;           // magnitude that is not zero; 0 where there is none
  float largest = 0;            // magnitude
  double mean = 0;
  double deviation = 0;  // of the population

  double zero_share() const {
    return elements == 0 ? 0 : static_cast<double>(zeros) / static_cast<double>(elements);
  }
};

Statistics statistics_of(const Safetensors& file, const TensorInfo& tensor);

}  // namespace mantissa::trace
