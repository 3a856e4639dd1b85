#include "sim/cli/line_io.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace mantissa::cli {

Output::Output(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
  buffer_.reserve(capacity);
}

Output& Output::text(std::string_view text) {
  if (buffer_.size() + text.size() > capacity) flush();
  buffer_.insert(buffer_.end(), text.begin(), text.end());
  return *this;
}

Output& Output::hex(std::uint64_t value, int digits) {
  std::array<char, 16> text{};
  for (int i = digits - 1; i >= 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return this->text({text.data(), static_cast<std::size_t>(digits)});
}

void Output::flush() {
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t written = ::write(descriptor_, data, left);
    if (written >= 0) {
      data += written;
      left -= static_cast<std::size_t>(written);
    } else if (errno == EPIPE) {
      throw ReaderGone();
    } else if (errno == EAGAIN) {  // it does not block: wait here instead
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      throw std::runtime_error("cannot write " + name_ + ": " + std::strerror(errno));
    }
  }
  buffer_.clear();
}

Output standard_output() { return {STDOUT_FILENO, "standard output"}; }

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
