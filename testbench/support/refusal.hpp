// What a function says when it refuses its input.
#pragma once

#include <stdexcept>
#include <string>

namespace mantissa::test {

// The message of the std::invalid_argument that `call` throws; "(accepted)" if it throws none. Other
// exceptions pass: they are never the right answer to bad input.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "(accepted)";
}

}  // namespace mantissa::test
