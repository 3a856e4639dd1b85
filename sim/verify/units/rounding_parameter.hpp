// What every unit with a rounding parameter has in common: the note that explains it, and one configuration
// for each way to treat ties.
#pragma once

#include <string>
#include <vector>

#include "models/format/rounding.hpp"
#include "sim/verify/unit_kind.hpp"

namespace mantissa::verify {

// "0 rne, 1 rtz, 2 sr": the values that a parameter takes.
std::string rounding_numbers(RoundingFilter wanted = any_rounding);

// `own` and, for every mode to nearest but rne, which they have, `base` with that mode in the named
// parameter.
std::vector<Configuration> with_ties(std::vector<Configuration> own, const Configuration& base,
                                     const std::string& parameter);

}  // namespace mantissa::verify
