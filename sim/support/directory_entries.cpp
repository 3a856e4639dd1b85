#include "sim/support/directory_entries.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace mantissa {
namespace {

// The number of the error, or 0.
int read_entries(const std::string& directory, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  if (!stream) return errno;
  int error = 0;
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return error;
}

}  // namespace

std::vector<std::string> entries_of(const std::string& directory) {
  std::vector<std::string> names;
  if (const int error = read_entries(directory, names); error != 0)
    throw std::runtime_error("cannot read " + directory + ": " + std::strerror(error));
  return names;
}

std::vector<std::string> entries_if_any(const std::string& directory) {
  std::vector<std::string> names;
  read_entries(directory, names);
  return names;
}

}  // namespace mantissa
