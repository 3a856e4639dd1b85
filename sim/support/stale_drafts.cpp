// Drafts and what keeps them: names, locks, and what becomes of those whose program is gone.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/support/directory_entries.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/support/remove_tree.hpp"

namespace mantissa {
namespace {

constexpr std::string_view draft_start = ".mantissa-";
constexpr std::string_view draft_end = ".tmp";

// Of draft_name(), of any process.
bool is_draft_name(std::string_view name) {
  if (!name.starts_with(draft_start) || !name.ends_with(draft_end)) return false;
  name = name.substr(draft_start.size(), name.size() - draft_start.size() - draft_end.size());
  const std::size_t dash = name.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && is_number(name.substr(0, dash)) &&
         is_number(name.substr(dash + 1));
}

// Ours to remove: not another user's, nothing behind a link, and nobody has the lock.
void remove_if_stale(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat status {};
  const bool ours = ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid() &&
                    (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  if (ours && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    remove_tree(AT_FDCWD, path.c_str());  // whatever is in the way here is in nobody else's
  }
  ::close(descriptor);
}

}  // namespace

std::string draft_name(int number) {
  return std::string(draft_start) + std::to_string(::getpid()) + "-" + std::to_string(number) +
         std::string(draft_end);
}

bool keep_draft(int descriptor) {
  // Waits only for somebody who looks whether the draft is stale. Where there are no locks, nobody looks.
  while (::flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

void remove_stale_drafts(const std::string& directory) {
  // A directory that cannot be listed may still be written to.
  for (const std::string& name : entries_if_any(directory)) {
    if (is_draft_name(name)) remove_if_stale(std::filesystem::path(directory) / name);
  }
}

void sync_directory(const std::string& directory) {
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // one may write to a directory that one may not read
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL)  // a file system that does not sync directories
    throw std::runtime_error("cannot write " + directory + ": " + std::strerror(error));
}

}  // namespace mantissa
