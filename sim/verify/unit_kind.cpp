#include "sim/verify/unit_kind.hpp"

#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa::verify {

UnitParameters UnitKind::complete(const UnitParameters& given) const {
  UnitParameters all;
  for (const ParameterNote& parameter : parameters) all.set(parameter.name, parameter.value);
  for (const auto& [parameter, value] : given.values()) {
    if (!all.has(parameter)) {
      std::string known;
      for (const ParameterNote& note : parameters) known += " " + note.name;
      throw std::invalid_argument("unit " + name + " has no parameter " + in_quotes(parameter) + "; it has" +
                                  known);
    }
  }
  all.override_with(given);
  return all;
}

}  // namespace mantissa::verify
