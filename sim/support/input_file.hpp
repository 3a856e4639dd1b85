// A file that is read while others may write to it: an error says so, where a memory map would end the
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>

namespace mantissa {

class InputFile {
 public:
  // Throws std::invalid_argument, `cannot read PATH: why`, unless it is a regular file that can be read.
  explicit InputFile(std::filesystem::path path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  std::uint64_t size() const { return size_; }
  // Exactly these bytes. Throws std::invalid_argument where the file does not have them any more.
  void read(std::uint64_t offset, std::span<std::byte> into) const;
  // Throws std::invalid_argument where the file was written to since it was opened: what was read of it may
  // be of two files.
  void check_unchanged() const;

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
  std::timespec written_{};
};

// All of a file of at most `largest` bytes. Throws as above.
std::string whole_file(const std::filesystem::path& path, std::uint64_t largest);

}  // namespace mantissa
