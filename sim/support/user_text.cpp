#include "sim/support/user_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace mantissa {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view ellipsis = "\xE2\x80\xA6";     // U+2026

bool continues(unsigned char byte) { return (byte & 0xC0U) == 0x80U; }

bool plain(char c) { return c >= ' ' && c <= '~'; }

// Bytes of the well-formed sequence at the start of `text`, 0 where there is none (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return continues(at(1)) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const unsigned char low = lead == 0xE0 ? 0xA0 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : 0xBF;
    return at(1) >= low && at(1) <= high && continues(at(2)) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const unsigned char low = lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xF4 ? 0x8F : 0xBF;
    return at(1) >= low && at(1) <= high && continues(at(2)) && continues(at(3)) ? 4 : 0;
  }
  return 0;
}

std::uint32_t code_point(std::string_view sequence) {
  std::uint32_t code = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() > 1) code &= 0x7FU >> sequence.size();
  for (const char c : sequence.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

// What a reader does not see but a terminal obeys, and what has no width.
bool hidden(std::uint32_t code) {
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  static constexpr std::array<Range, 13> ranges{
      {{0x00, 0x1F},
       {0x7F, 0x9F},
       {0xAD, 0xAD},
       {0x61C, 0x61C},        // Arabic letter mark
       {0x180E, 0x180E},      // Mongolian vowel separator
       {0x200B, 0x200F},      // without width; left-to-right, right-to-left
       {0x2028, 0x202E},      // line, paragraph; embeddings, overrides
       {0x2060, 0x206F},      // joiners, invisible operators, isolates
       {0xFEFF, 0xFEFF},      // byte order mark
       {0xFFF9, 0xFFFB},      // interlinear annotation
       {0x1BCA0, 0x1BCA3},    // shorthand controls
       {0x1D173, 0x1D17A},    // musical controls
       {0xE0000, 0xE007F}}};  // tags
  return std::any_of(ranges.begin(), ranges.end(),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

void append_hex(std::string& text, std::uint32_t value, int count) {
  for (int shift = 4 * (count - 1); shift >= 0; shift -= 4) text += digits[value >> shift & 15U];
}

void append_escaped(std::string& text, std::uint32_t code) {
  if (code < ' ') {
    append_hex(text += "\\x", code, 2);
  } else if (code <= 0xFFFF) {
    append_hex(text += "\\u", code, 4);
  } else {  // as JSON writes it: a pair of surrogates
    append_hex(text += "\\u", 0xD800 + ((code - 0x10000) >> 10), 4);
    append_hex(text += "\\u", 0xDC00 + (code & 0x3FFU), 4);
  }
}

template <typename Kept>
std::string made_printable(std::string_view text, Kept kept) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto run =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), kept) - text.begin());
    result += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      result += replacement;
    } else if (const std::uint32_t code = code_point(sequence); hidden(code)) {
      append_escaped(result, code);
    } else {
      result += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return made_printable(text, plain); }

std::string printable_lines(std::string_view text) {
  return made_printable(text, [](char c) { return plain(c) || c == '\n'; });
}

std::string shortened(std::string_view text, std::size_t longest) {
  std::string result;
  for (const char c : text.substr(0, longest)) {
    if (plain(c)) {
      result += c;
    } else {
      append_hex(result += "\\x", static_cast<unsigned char>(c), 2);
    }
  }
  return result + (text.size() > longest ? "..." : "");
}

std::string in_quotes(std::string_view text, std::size_t longest) {
  return "'" + shortened(text, longest) + "'";
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return !continues(static_cast<unsigned char>(c)); }));
}

std::string shortened_in_the_middle(std::string_view text, std::size_t width) {
  const std::size_t length = width_of(text);
  if (length <= width || width == 0) return std::string(text);
  // The end tells layers apart more often than the beginning does.
  const std::size_t head = (width - 1) / 3;
  const std::size_t tail = width - 1 - head;
  std::string result;
  std::size_t character = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i > 0 && !continues(static_cast<unsigned char>(text[i]))) ++character;
    if (character == head && !continues(static_cast<unsigned char>(text[i]))) result += ellipsis;
    if (character < head || character >= length - tail) result += text[i];
  }
  return result;
}

std::string shell_word(std::string_view word) {
  const auto plain_to_shell = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain_to_shell)) return std::string(word);
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

}  // namespace mantissa
