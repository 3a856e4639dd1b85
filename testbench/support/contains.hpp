// Text in a text.
#pragma once

#include <string_view>

namespace mantissa::test {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace mantissa::test
