// A user's text in an error message: safe for a terminal, and short.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mantissa {

// At most `longest` bytes, then "..."; bytes that are not printable ASCII become \xNN.
std::string shortened(std::string_view text, std::size_t longest = 40);
// The same in quotes.
std::string in_quotes(std::string_view text, std::size_t longest = 40);
// Control characters become \xNN; letters of any language stay.
std::string without_control_characters(std::string_view text);

// A word as a POSIX shell reads it back; in quotes only where it needs them.
std::string shell_word(std::string_view word);

}  // namespace mantissa
