// Lines in, text out, in large chunks: what lets `mantissa calc` handle millions of lines a second.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mantissa::cli {

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

class LineReader {
 public:
  // `answers` is flushed before every wait for more input, so that a program that sends one line and waits
  // for its answer gets it.
  LineReader(int descriptor, Output& answers);

  // The next line without its end (\n or \r\n), valid until the next call; nothing at the end of the input.
  // Throws std::invalid_argument for a line above the longest that any command could need, \r included; the
  // answers so far have been flushed by then.
  std::optional<std::string_view> next();
  // Of the last line returned, from 1.
  std::uint64_t line_number() const { return line_number_; }

 private:
  static constexpr std::size_t longest_line = 1U << 16;
  void check_length(std::size_t bytes);
  bool fill();

  int descriptor_;
  Output& answers_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // unread bytes are [begin_, end_)
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
};

}  // namespace mantissa::cli
