// Text of users and of other programs, made safe for a terminal. Names of layers, files and ports, and
// messages about them, may hold anything; nothing in them may move the cursor, hide or forge a line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mantissa {

// UTF-8 as a terminal may see it: letters of any language stay. Control characters below a space become \xNN;
// DEL, C1, marks of direction, characters without width and separators of lines \uNNNN, which JSON reads as
// the same character; bytes that are no UTF-8 U+FFFD.
std::string printable(std::string_view text);
// The same for a text of several lines, whose ends stay.
std::string printable_lines(std::string_view text);

// At most `longest` bytes, then "..."; bytes that are not printable ASCII become \xNN.
std::string shortened(std::string_view text, std::size_t longest = 40);
// The same in quotes.
std::string in_quotes(std::string_view text, std::size_t longest = 40);

// In characters, of printable text.
std::size_t width_of(std::string_view text);
// At most `width` characters of printable text: the middle gives way to "…".
std::string shortened_in_the_middle(std::string_view text, std::size_t width);

// A word as a POSIX shell reads it back; in quotes only where it needs them.
std::string shell_word(std::string_view word);

}  // namespace mantissa
