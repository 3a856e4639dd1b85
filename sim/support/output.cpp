#include "sim/support/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

// Of standard_output(), all of them: once something is missing, what follows would only mislead.
bool dropping = false;
int lost_by = 0;  // errno of the failure, 0 where the reader has left

[[noreturn]] void fail(const std::string& name, int error) {
  throw std::runtime_error("cannot write " + name + ": " + std::strerror(error));
}

constexpr const char* standard_output_name = "standard output";

}  // namespace

Output::Output(int descriptor, std::string name, Target target)
    : descriptor_(descriptor), name_(std::move(name)), target_(target) {
  buffer_.reserve(capacity);
}

Output& Output::text(std::string_view text) {
  if (buffer_.size() + text.size() > capacity) flush();
  if (target_ == Target::file) {
    buffer_.insert(buffer_.end(), text.begin(), text.end());
  } else {
    const std::string shown = printable_lines(text);
    buffer_.insert(buffer_.end(), shown.begin(), shown.end());
  }
  return *this;
}

Output& Output::hex(std::uint64_t value, int digits) {
  std::array<char, 16> text{};
  if (buffer_.size() + text.size() > capacity) flush();
  for (int i = digits - 1; i >= 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  buffer_.insert(buffer_.end(), text.begin(), text.begin() + digits);
  return *this;
}

void Output::flush() {
  if (target_ == Target::report && dropping) buffer_.clear();
  const char* data = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t written = ::write(descriptor_, data, left);
    if (written >= 0) {
      data += written;
      left -= static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {  // it does not block: wait here instead
      pollfd ready{descriptor_, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      failed(errno);
      break;
    }
  }
  buffer_.clear();
}

void Output::failed(int error) {
  if (target_ == Target::stream && error == EPIPE) throw ReaderGone();
  if (target_ != Target::report) fail(name_, error);
  dropping = true;
  lost_by = error == EPIPE ? 0 : error;
}

Output standard_output() { return {STDOUT_FILENO, standard_output_name, Output::Target::report}; }
Output standard_stream() { return {STDOUT_FILENO, standard_output_name, Output::Target::stream}; }

void check_standard_output() {
  if (lost_by != 0) fail(standard_output_name, lost_by);
}

void tell_user(std::string_view line) { std::fprintf(stderr, "%s\n", printable(line).c_str()); }

}  // namespace mantissa
