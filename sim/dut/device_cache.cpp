#include "sim/dut/device_cache.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/support/data_directory.hpp"
#include "sim/support/remove_tree.hpp"
#include "sim/support/sha256.hpp"

namespace mantissa {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view scratch_prefix = "build-";
// Shows that the directory is ours to clean.
constexpr const char* marker = ".made-by-mantissa";
constexpr const char* advice = "; set MANTISSA_CACHE to a directory of your own";
constexpr int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// A lock among runs that use the cache, for moments only. Where it cannot be had, the run goes on without it:
// digests show what got mixed up.
class CacheLock {
 public:
  explicit CacheLock(int directory) : directory_(directory) {
    constexpr int tries = 400;
    constexpr useconds_t pause = 5000;
    for (int i = 0; i < tries && !held_; ++i) {
      held_ = ::flock(directory_, LOCK_EX | LOCK_NB) == 0;
      if (!held_ && errno != EWOULDBLOCK && errno != EINTR) break;
      if (!held_) ::usleep(pause);
    }
  }
  CacheLock(const CacheLock&) = delete;
  CacheLock& operator=(const CacheLock&) = delete;
  ~CacheLock() {
    if (held_) ::flock(directory_, LOCK_UN);
  }
  bool held() const { return held_; }

 private:
  int directory_;
  bool held_ = false;
};

fs::path variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const std::string& directory, const std::string& reason) {
  throw std::runtime_error("the cache of compiled devices, " + directory + ", " + reason + advice);
}

std::string own_name() { return "mantissa-devices-" + std::to_string(::geteuid()); }

bool is_private(int directory) {
  struct stat status {};
  return ::fstat(directory, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 077U) == 0;
}

// Nobody else could have put anything there.
void check_private(int directory, const std::string& shown) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) refuse(shown, std::strerror(errno));
  if (status.st_uid != ::geteuid()) refuse(shown, "belongs to another user");
  if ((status.st_mode & 077U) != 0) {
    refuse(shown, "is open to other users: chmod 700 it if only you have written there, or remove it");
  }
}

OwnDescriptor open_directory(int at, const char* name, const std::string& shown) {
  OwnDescriptor directory(::openat(at, name, as_directory));
  if (directory.get() < 0) {
    refuse(shown, errno == ELOOP || errno == ENOTDIR
                      ? "is a link or a file, not a directory"
                      : "cannot be opened: " + std::string(std::strerror(errno)));
  }
  return directory;
}

// The directory in which ours is made. One that the user has named may be anybody's; the one for temporary
// files has a name that everybody knows.
OwnDescriptor open_base(const fs::path& base, bool named) {
  std::error_code error;
  if (named) {
    if (fs::create_directories(base, error)) fs::permissions(base, fs::perms::owner_all, error);
  } else if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) {
    error.assign(errno, std::generic_category());
  }
  OwnDescriptor directory(
      ::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | (named ? 0 : O_NOFOLLOW)));
  if (directory.get() < 0 && !error) error.assign(errno, std::generic_category());
  if (error) {
    throw std::runtime_error("cannot make the cache of compiled devices, " + base.string() + ": " +
                             error.message() + advice);
  }
  if (!named) check_private(directory.get(), base.string());
  return directory;
}

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  DIR* const stream = ::fdopendir(::openat(directory, ".", as_directory));
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): a stream of its own
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

// A directory that was made and not yet marked is empty.
void check_marker(int directory, const std::string& shown) {
  struct stat status {};
  if (::fstatat(directory, marker, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) return;
  if (!names_in(directory).empty())
    refuse(shown, std::string("was not made by this program: it has files, but no ") + marker);
  const OwnDescriptor made(::openat(directory, marker, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (made.get() < 0) refuse(shown, "cannot be written: " + std::string(std::strerror(errno)));
}

std::optional<std::string> content_of(int file) {
  std::string text;
  std::array<char, 65536> buffer{};
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file, buffer.data(), buffer.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    at += got;
  }
}

// Beside every file lies what `sha256sum` says of it.
std::string digest_name(const std::string& name) { return name + ".sha256"; }
std::string digest_line(const std::string& content, const std::string& name) {
  return sha256(content) + "  " + name + "\n";
}

OwnDescriptor open_file(int directory, const std::string& name) {
  return OwnDescriptor(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
}

bool is_own_file(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & 022U) == 0;
}

// Says what the system has just refused.
[[noreturn]] void refuse(const std::string& what) {
  throw std::runtime_error("cannot " + what +
                           " the cache of compiled devices: " + std::string(std::strerror(errno)));
}

void write_file(int directory, const std::string& name, const std::string& text) {
  const OwnDescriptor file(
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0 || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    refuse("write into");
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------- descriptors

OwnDescriptor& OwnDescriptor::operator=(OwnDescriptor&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OwnDescriptor::~OwnDescriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string OwnDescriptor::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor_);
}

// ------------------------------------------------------------------------------------------------- cache

DeviceCache DeviceCache::in(const OwnDescriptor& base, const std::string& shown_base) {
  const std::string name = own_name();
  const std::string shown = shown_base + "/" + name;
  if (::mkdirat(base.get(), name.c_str(), 0700) != 0 && errno != EEXIST)
    refuse(shown, "cannot be made: " + std::string(std::strerror(errno)));
  OwnDescriptor directory = open_directory(base.get(), name.c_str(), shown);
  check_private(directory.get(), shown);
  check_marker(directory.get(), shown);
  DeviceCache cache(std::move(directory));
  cache.remove_leftovers();
  return cache;
}

DeviceCache DeviceCache::open() {
  fs::path base = variable("MANTISSA_CACHE");
  if (const fs::path xdg = variable("XDG_CACHE_HOME"); base.empty() && !xdg.empty()) base = xdg / "mantissa";
  if (const fs::path home = variable("HOME"); base.empty() && !home.empty())
    base = home / ".cache" / "mantissa";
  const bool named = !base.empty();
  if (!named) base = fs::temp_directory_path() / ("mantissa-cache-" + std::to_string(::geteuid()));
  return in(open_base(base, named), base.string());
}

std::optional<DeviceCache> DeviceCache::of_build() {
  const fs::path path = data_directory() / "build/devices" / own_name();
  OwnDescriptor directory(::open(path.c_str(), as_directory));
  if (directory.get() < 0 || !is_private(directory.get())) return std::nullopt;
  return DeviceCache(std::move(directory));
}

// What nobody has locked belongs to a run that was killed.
void DeviceCache::remove_leftovers() const {
  const CacheLock lock(directory_.get());
  if (!lock.held()) return;
  for (const std::string& name : names_in(directory_.get())) {
    if (!name.starts_with(scratch_prefix)) continue;
    const OwnDescriptor scratch(::openat(directory_.get(), name.c_str(), as_directory));
    if (scratch.get() >= 0 && ::flock(scratch.get(), LOCK_EX | LOCK_NB) == 0)
      remove_tree(directory_.get(), name.c_str());
  }
}

CachedFilePointer DeviceCache::find(const std::string& name) const {
  OwnDescriptor file;
  OwnDescriptor digest;
  {
    const CacheLock lock(directory_.get());  // both of the same run
    file = open_file(directory_.get(), name);
    digest = open_file(directory_.get(), digest_name(name));
  }
  if (!is_own_file(file.get()) || !is_own_file(digest.get())) return nullptr;
  const std::optional<std::string> content = content_of(file.get());
  if (!content || content_of(digest.get()) != digest_line(*content, name)) return nullptr;
  return std::make_shared<const CachedFile>(std::move(file));
}

CachedFilePointer DeviceCache::keep(const ScratchDirectory& scratch, const std::string& file,
                                    const std::string& name) const {
  const int from = scratch.directory_.get();
  OwnDescriptor made = open_file(from, file);
  if (made.get() < 0 || ::fchmod(made.get(), 0600) != 0 || !is_own_file(made.get()))
    throw std::runtime_error("a tool did not write " + file);
  write_file(from, "digest", digest_line(content_of(made.get()).value_or(""), name));
  const CacheLock lock(directory_.get());
  if (::renameat(from, file.c_str(), directory_.get(), name.c_str()) != 0 ||
      ::renameat(from, "digest", directory_.get(), digest_name(name).c_str()) != 0) {
    refuse("write into");
  }
  return std::make_shared<const CachedFile>(std::move(made));
}

// ----------------------------------------------------------------------------------------------- scratch

ScratchDirectory::ScratchDirectory(const DeviceCache& cache)
    : cache_(::fcntl(cache.directory_.get(), F_DUPFD_CLOEXEC, 3)) {
  const SignalsHeld held;              // between making it and noting its name
  const CacheLock lock(cache_.get());  // nobody takes it for a leftover before it is locked
  for (int number = 0;; ++number) {
    name_ = std::string(scratch_prefix) + std::to_string(::getpid()) + "-" + std::to_string(number);
    if (::mkdirat(cache_.get(), name_.c_str(), 0700) == 0) break;
    if (errno != EEXIST) refuse("make a directory in");
  }
  directory_ = open_directory(cache_.get(), name_.c_str(), name_);
  ::flock(directory_.get(), LOCK_EX | LOCK_NB);
  entry_ = cache_.path() + "/" + name_;
  removed_.emplace(entry_);
}

ScratchDirectory::~ScratchDirectory() { remove_tree(cache_.get(), name_.c_str()); }

}  // namespace mantissa
