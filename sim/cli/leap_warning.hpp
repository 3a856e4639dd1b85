// The warning about leaps of the random generator that do not reach all of its states.
#pragma once

namespace mantissa::cli {

// On standard error, where draws of this leap, 1..32, repeat before 2^32-1 of them.
void warn_of_short_period(int leap);

}  // namespace mantissa::cli
