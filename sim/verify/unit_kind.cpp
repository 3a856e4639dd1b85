#include "sim/verify/unit_kind.hpp"

#include <stdexcept>

#include "sim/support/user_text.hpp"

namespace mantissa::verify {

std::vector<ParameterNote> joined(std::initializer_list<std::vector<ParameterNote>> lists) {
  std::vector<ParameterNote> all;
  for (const std::vector<ParameterNote>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<ParameterNote> format_notes(const std::string& prefix, const std::string& of, bool first) {
  return {
      {prefix + "Exp", 5, "exponent bits of " + of},
      {prefix + "Man", 2, "mantissa bits of " + of},
      {prefix + "Bias", 15, "exponent bias of " + of},
      {prefix + "Specials", 0, "special codes of " + of + (first ? ": 0 ieee, 1 fn, 2 finite, 3 fnuz" : "")}};
}

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
