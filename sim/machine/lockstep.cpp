#include "sim/machine/lockstep.hpp"

namespace mantissa {

LockstepError::LockstepError(LockstepDifference difference)
    : std::runtime_error(difference.unit + ": " + difference.mismatch.what + " in cycle " +
                         std::to_string(difference.mismatch.cycle)),
      difference_(std::move(difference)) {}

}  // namespace mantissa
