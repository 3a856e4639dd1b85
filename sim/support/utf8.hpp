// Whether bytes are UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace mantissa {

// Bytes from the start that are whole characters of UTF-8; all of them, if the text is valid.
inline std::size_t valid_utf8_bytes(std::string_view text) {
  struct Sequence {
    unsigned first_low, first_high;    // first byte
    unsigned second_low, second_high;  // second byte: no surrogate, nothing overlong, nothing above U+10FFFF
    std::size_t bytes;
  };
  static constexpr std::array<Sequence, 8> sequences = {{{0xC2, 0xDF, 0x80, 0xBF, 2},
                                                         {0xE0, 0xE0, 0xA0, 0xBF, 3},
                                                         {0xE1, 0xEC, 0x80, 0xBF, 3},
                                                         {0xED, 0xED, 0x80, 0x9F, 3},
                                                         {0xEE, 0xEF, 0x80, 0xBF, 3},
                                                         {0xF0, 0xF0, 0x90, 0xBF, 4},
                                                         {0xF1, 0xF3, 0x80, 0xBF, 4},
                                                         {0xF4, 0xF4, 0x80, 0x8F, 4}}};
  const auto length_at = [&](std::size_t at) -> std::size_t {
    const auto byte = [&](std::size_t i) {
      return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
    };
    for (const Sequence& each : sequences) {
      if (byte(at) < each.first_low || byte(at) > each.first_high) continue;
      if (each.bytes > text.size() - at) return 0;
      if (byte(at + 1) < each.second_low || byte(at + 1) > each.second_high) return 0;
      for (std::size_t i = 2; i < each.bytes; ++i) {
        if (byte(at + i) < 0x80 || byte(at + i) > 0xBF) return 0;
      }
      return each.bytes;
    }
    return 0;
  };
  std::size_t valid = 0;
  while (valid < text.size()) {
    if (static_cast<unsigned char>(text[valid]) < 0x80) {  // nearly all of it
      ++valid;
      continue;
    }
    const std::size_t length = length_at(valid);
    if (length == 0) break;
    valid += length;
  }
  return valid;
}

}  // namespace mantissa
