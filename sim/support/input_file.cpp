#include "sim/support/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace mantissa {

InputFile::InputFile(std::filesystem::path path)
    : path_(std::move(path)),
      // A pipe would otherwise wait for its writer, a terminal become the program's own.
      descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
  if (descriptor_ < 0) fail(errno == ENOENT ? "no such file" : std::strerror(errno));
  struct stat status {};
  const char* problem = nullptr;
  if (::fstat(descriptor_, &status) != 0) {
    problem = std::strerror(errno);
  } else if (S_ISDIR(status.st_mode)) {
    problem = "it is a directory";
  } else if (!S_ISREG(status.st_mode)) {
    problem = "it is not a regular file";
  }
  if (problem != nullptr) {
    ::close(descriptor_);
    fail(problem);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  written_ = status.st_mtim;
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::fail(const std::string& why) const {
  throw std::invalid_argument("cannot read " + path_.string() + ": " + why);
}

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t got = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(std::strerror(errno));
    if (got == 0) fail("it became shorter while it was read");
    into = into.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

void InputFile::check_unchanged() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(std::strerror(errno));
  if (static_cast<std::uint64_t>(status.st_size) != size_ || status.st_mtim.tv_sec != written_.tv_sec ||
      status.st_mtim.tv_nsec != written_.tv_nsec) {
    fail("it was written to while it was read; start again when it is complete");
  }
}

std::string whole_file(const std::filesystem::path& path, std::uint64_t largest) {
  const InputFile file(path);
  if (file.size() > largest) {
    throw std::invalid_argument("cannot read " + path.string() + ": it has " + std::to_string(file.size()) +
                                " bytes, and at most " + std::to_string(largest) + " are read");
  }
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace mantissa
