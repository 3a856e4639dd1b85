// Buffered output to a file descriptor, whose failures are seen; and the two ways out of the program for text
// that a person reads. Both make text printable(), line ends aside, whatever it was made of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa {

// Thrown by standard_stream() when nobody reads it any more (`mantissa calc ... | head`): a normal end.
struct ReaderGone {};

// Buffered text on a file descriptor. Nothing is lost only if flush() is called at the end.
class Output {
 public:
  // A file: bytes go out as they are. `name` is for error messages.
  Output(int descriptor, std::string name) : Output(descriptor, std::move(name), Target::file) {}

  Output& text(std::string_view text);
  // Lower case, padded with zeros.
  Output& hex(std::uint64_t value, int digits);
  // Throws std::runtime_error on failure; standard output has its own rules, below.
  void flush();

 private:
  enum class Target { file, report, stream };
  Output(int descriptor, std::string name, Target target);
  void failed(int error);
  friend Output standard_output();
  friend Output standard_stream();

  static constexpr std::size_t capacity = 1U << 16;
  int descriptor_;
  std::string name_;
  Target target_;
  std::vector<char> buffer_;
};

// For a command that also gives a verdict or writes files, neither of which may depend on who reads this:
// what cannot be written is dropped, and the command goes on. A reader that left is no failure; any other
// waits for check_standard_output().
Output standard_output();
// For a command that is nothing but its output, and may have no end: flush() throws ReaderGone or, for any
// other failure, std::runtime_error.
Output standard_stream();
// Throws std::runtime_error where something that standard_output() was given is lost.
void check_standard_output();

// One line on standard error. Whether anybody reads it does not matter.
void tell_user(std::string_view line);

}  // namespace mantissa
