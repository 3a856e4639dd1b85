#include "sim/cli/line_io.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace mantissa::cli {

LineReader::LineReader(int descriptor, Output& answers)
    : descriptor_(descriptor), answers_(answers), buffer_(2 * longest_line) {}

std::optional<std::string_view> LineReader::next() {
  std::size_t searched = begin_;
  while (true) {
    const void* found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    std::size_t after = 0;
    std::size_t stop = 0;
    if (found != nullptr) {
      stop = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      after = stop + 1;
    } else {
      const std::size_t pending = end_ - begin_;
      check_length(pending);
      if (fill()) {
        searched = begin_ + pending;
        continue;
      }
      if (pending == 0) return std::nullopt;
      stop = after = end_;  // the last line may lack its end
    }
    check_length(stop - begin_);
    std::string_view line(buffer_.data() + begin_, stop - begin_);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    begin_ = after;
    ++line_number_;
    return line;
  }
}

void LineReader::check_length(std::size_t bytes) {
  if (bytes <= longest_line) return;
  answers_.flush();
  throw std::invalid_argument("line " + std::to_string(line_number_ + 1) + ": longer than " +
                              std::to_string(longest_line) + " bytes; is this a text file?");
}

bool LineReader::fill() {
  answers_.flush();
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (true) {
    const ssize_t got = ::read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (got >= 0) {
      end_ += static_cast<std::size_t>(got);
      return got > 0;
    }
    if (errno != EINTR) {
      throw std::runtime_error(std::string("cannot read standard input: ") + std::strerror(errno));
    }
  }
}

}  // namespace mantissa::cli
