#include "sim/cli/leap_warning.hpp"

#include <cstdint>
#include <cstdio>

#include "models/random/lfsr.hpp"

namespace mantissa::cli {

void warn_of_short_period(int leap) {
  const std::uint32_t divisor = leap_period_divisor(leap);
  if (divisor == 1) return;
  std::fprintf(
      stderr, "mantissa: warning: leap %d shares the factor %u with 2^32-1: draws repeat after (2^32-1)/%u\n",
      leap, divisor, divisor);
}

}  // namespace mantissa::cli
