#include "sim/support/layer_name.hpp"

#include "sim/support/user_text.hpp"
#include "sim/support/utf8.hpp"

namespace mantissa {

std::string problem_of_line(std::string_view text, std::size_t longest) {
  if (text.empty()) return "is empty";
  if (text.size() > longest) return "has more than " + std::to_string(longest) + " bytes";
  if (valid_utf8_bytes(text) != text.size()) return in_quotes(text, longest) + " is not UTF-8";
  if (printable(text) != text) return in_quotes(text, longest) + " has control characters";
  return "";
}

std::string problem_of_name(std::string_view name) { return problem_of_line(name, longest_name); }

}  // namespace mantissa
