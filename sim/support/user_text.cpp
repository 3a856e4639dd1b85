#include "sim/support/user_text.hpp"

#include <algorithm>
#include <cctype>

namespace mantissa {
namespace {

template <typename Shown>
std::string escaped(std::string_view text, Shown shown) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (shown(byte)) {
      result += c;
    } else {
      result.append("\\x").append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
    }
  }
  return result;
}

constexpr unsigned char first_printable = 0x20;
constexpr unsigned char delete_character = 0x7F;

}  // namespace

std::string shortened(std::string_view text, std::size_t longest) {
  const auto printable = [](unsigned char c) { return c >= first_printable && c < delete_character; };
  return escaped(text.substr(0, longest), printable) + (text.size() > longest ? "..." : "");
}

std::string in_quotes(std::string_view text, std::size_t longest) {
  return "'" + shortened(text, longest) + "'";
}

std::string without_control_characters(std::string_view text) {
  return escaped(text, [](unsigned char c) { return c >= first_printable && c != delete_character; });
}

std::string shell_word(std::string_view word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
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
