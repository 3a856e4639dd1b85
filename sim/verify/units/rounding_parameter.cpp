#include "sim/verify/units/rounding_parameter.hpp"

namespace mantissa::verify {

std::string rounding_numbers(RoundingFilter wanted) {
  std::string list;
  for (const RoundingTraits& mode : rounding_modes) {
    if (!wanted(mode)) continue;
    if (!list.empty()) list += ", ";
    list += std::to_string(static_cast<int>(mode.mode)) + " " + std::string(mode.name);
  }
  return list;
}

std::vector<Configuration> with_ties(std::vector<Configuration> own, const Configuration& base,
                                     const std::string& parameter) {
  for (const RoundingTraits& mode : rounding_modes) {
    if (!mode.nearest || mode.mode == Rounding::Mode::rne) continue;
    own.push_back({base.name + (base.name.empty() ? "" : " ") + std::string(mode.name),
                   base.parameters.with({{parameter, static_cast<int>(mode.mode)}}), base.coverage});
  }
  return own;
}

}  // namespace mantissa::verify
