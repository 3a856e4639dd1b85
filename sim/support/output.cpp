#include "sim/support/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace mantissa {

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

}  // namespace mantissa
