// SHA-256: the name of a content, in caches and in reports that say what they were made of.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mantissa {

// 64 hexadecimal digits, those that `sha256sum` prints for a file with these bytes.
std::string sha256(std::span<const std::byte> bytes);
inline std::string sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace mantissa
