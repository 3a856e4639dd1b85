// Buffered output to a file descriptor, whose failures are seen.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

// Thrown when nobody reads our output any more (`mantissa ... | head`): a normal end.
struct ReaderGone {};

// Buffered text on a file descriptor. Nothing is lost only if flush() is called at the end.
class Output {
 public:
  // `name` is for error messages.
  Output(int descriptor, std::string name);

  Output& text(std::string_view text);
  // Lower case, padded with zeros.
  Output& hex(std::uint64_t value, int digits);
  // Throws ReaderGone on a closed pipe, std::runtime_error on any other failure.
  void flush();

 private:
  static constexpr std::size_t capacity = 1U << 16;
  int descriptor_;
  std::string name_;
  std::vector<char> buffer_;
};

Output standard_output();

}  // namespace mantissa
