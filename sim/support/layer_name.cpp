#include "sim/support/layer_name.hpp"

#include "sim/support/user_text.hpp"
#include "sim/support/utf8.hpp"

namespace mantissa {

std::string problem_of_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > longest_name) return "has more than " + std::to_string(longest_name) + " bytes";
  if (valid_utf8_bytes(name) != name.size()) return in_quotes(name, longest_name) + " is not UTF-8";
  if (printable(name) != name) return in_quotes(name, longest_name) + " has control characters";
  return "";
}

}  // namespace mantissa
