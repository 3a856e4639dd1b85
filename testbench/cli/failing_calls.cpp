// For LD_PRELOAD: lets one call of the program fail, as a full disk, a broken one or missing memory would.
//   MANTISSA_FAIL_CALL  write, rename, renameat2, fsync, flock, open (of a file to be made), mkdir, close (of
//                       a file that was written) or malloc (from the first open or mkdir on: what is lost
//                       before is no result); or `part`: no write fails, but each writes a part of what it
//                       should, and every third is interrupted
//   MANTISSA_FAIL_AT    which one of them, counted from 1
//   MANTISSA_FAIL_WITH  the number of the error
//   MANTISSA_FAIL_MARK  a file that is made when the call fails
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

// The names are glibc's.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl50-cpp)
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

const char* failing = nullptr;  // none before the constructor below
const char* mark = nullptr;
int error_number = 0;
std::atomic<long> calls_left{0};
std::atomic<bool> writing{false};  // results, by now

bool fails(const char* call) {
  if (failing == nullptr || std::strcmp(failing, call) != 0) return false;
  if (calls_left.fetch_sub(1) != 1) return false;
  ::syscall(SYS_close, ::syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
  errno = error_number;
  return true;
}

template <typename Function>
Function next(Function /*of this type*/, const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void start() {
  const char* at = std::getenv("MANTISSA_FAIL_AT");
  const char* with = std::getenv("MANTISSA_FAIL_WITH");
  mark = std::getenv("MANTISSA_FAIL_MARK");
  if (at == nullptr || with == nullptr || mark == nullptr) return;
  calls_left = std::strtol(at, nullptr, 10);
  error_number = static_cast<int>(std::strtol(with, nullptr, 10));
  ::unsetenv("LD_PRELOAD");  // programs that this one starts are not meant
  failing = std::getenv("MANTISSA_FAIL_CALL");
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, std::size_t size) {
  static const auto real = next(&write, "write");
  static std::atomic<long> parts{0};
  if (failing != nullptr && std::strcmp(failing, "part") == 0) {
    if (parts.fetch_add(1) % 3 == 2) {
      errno = EINTR;
      return -1;
    }
    return real(descriptor, data, (size + 1) / 2);
  }
  return fails("write") ? -1 : real(descriptor, data, size);
}

int flock(int descriptor, int operation) noexcept {
  static const auto real = next(&flock, "flock");
  return fails("flock") ? -1 : real(descriptor, operation);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next(&rename, "rename");
  return fails("rename") ? -1 : real(from, to);
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to,
              unsigned flags) noexcept {
  static const auto real = next(&renameat2, "renameat2");
  return fails("renameat2") ? -1 : real(from_directory, from, to_directory, to, flags);
}

int fsync(int descriptor) {
  static const auto real = next(&fsync, "fsync");
  return fails("fsync") ? -1 : real(descriptor);
}

int open(const char* path, int flags, ...) {
  static const auto real = next(&open, "open");
  if ((flags & O_CREAT) == 0) return real(path, flags);
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  writing = true;
  return fails("open") ? -1 : real(path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next(&mkdir, "mkdir");
  writing = true;
  return fails("mkdir") ? -1 : real(path, mode);
}

int close(int descriptor) {
  static const auto real = next(&close, "close");
  struct stat status {};
  const bool written = (::fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY &&
                       ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const int result = real(descriptor);
  return written && fails("close") ? -1 : result;
}

void* malloc(std::size_t size) noexcept { return writing && fails("malloc") ? nullptr : __libc_malloc(size); }

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return writing && fails("malloc") ? nullptr : __libc_memalign(alignment, size);
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming,cert-dcl50-cpp)
