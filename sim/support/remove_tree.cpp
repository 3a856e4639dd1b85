#include "sim/support/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace mantissa {
namespace {

constexpr int deepest = 8;       // every level takes a buffer on the stack
constexpr int most_rounds = 64;  // whatever cannot be removed must not keep the program alive

bool remove_at_depth(int at, const char* path, int depth) noexcept;

// readdir allocates memory, the system call below it does not.
void empty_directory(int directory, int depth) noexcept {
  alignas(dirent64) std::array<char, 2048> buffer{};
  for (;;) {
    const long got = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (got <= 0) return;
    for (long at = 0; at < got;) {
      const char* const entry = buffer.data() + at;
      const char* const name = entry + offsetof(dirent64, d_name);
      unsigned short length = 0;
      std::memcpy(&length, entry + offsetof(dirent64, d_reclen), sizeof length);
      if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0)
        remove_at_depth(directory, name, depth + 1);
      at += length;
    }
  }
}

bool remove_at_depth(int at, const char* path, int depth) noexcept {
  if (::unlinkat(at, path, 0) == 0) return true;
  if (depth > deepest) return false;
  const int directory = ::openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return false;
  bool gone = false;
  // Again, for what came while the directory was read.
  for (int round = 0; round < most_rounds && !gone; ++round) {
    ::lseek(directory, 0, SEEK_SET);
    empty_directory(directory, depth);
    gone = ::unlinkat(at, path, AT_REMOVEDIR) == 0;
  }
  ::close(directory);
  return gone;
}

}  // namespace

bool remove_tree(int at, const char* path) noexcept { return remove_at_depth(at, path, 0); }

}  // namespace mantissa
