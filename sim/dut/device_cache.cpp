#include "sim/dut/device_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "sim/support/data_directory.hpp"

namespace mantissa {

namespace fs = std::filesystem;

namespace {

constexpr const char* scratch_prefix = "build-";

void remove_leftovers(const fs::path& cache) {
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, ignored)) {
    const bool scratch = entry.path().filename().string().rfind(scratch_prefix, 0) == 0;
    if (scratch && entry.last_write_time(ignored) < old) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

fs::path device_cache() {
  const auto from = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    return fs::path(value == nullptr ? "" : value);
  };
  if (fs::path own = from("MANTISSA_CACHE"); !own.empty()) return own;
  if (const fs::path xdg = from("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "mantissa";
  if (const fs::path home = from("HOME"); !home.empty()) return home / ".cache" / "mantissa";
  return fs::temp_directory_path() / ("mantissa-cache-" + std::to_string(getuid()));
}

fs::path open_device_cache() {
  fs::path cache = device_cache();
  std::error_code error;
  if (fs::create_directories(cache, error)) fs::permissions(cache, fs::perms::owner_all, error);
  if (error) {
    throw std::runtime_error("cannot make the cache of compiled devices, " + cache.string() + ": " +
                             error.message() + "; set MANTISSA_CACHE to a directory of your own");
  }
  struct stat status {};
  if (stat(cache.c_str(), &status) != 0 || status.st_uid != getuid()) {
    throw std::runtime_error("the cache of compiled devices, " + cache.string() +
                             ", belongs to another user; set MANTISSA_CACHE to a directory of your own");
  }
  remove_leftovers(cache);
  return cache;
}

fs::path find_in_cache(const fs::path& cache, const std::string& name) {
  if (fs::exists(cache / name)) return cache / name;
  // What another user could have written is not loaded.
  fs::path built = data_directory() / "build/devices" / name;
  struct stat status {};
  if (stat(built.c_str(), &status) == 0 && status.st_uid == getuid()) return built;
  return {};
}

ScratchDirectory::ScratchDirectory(const fs::path& cache) {
  std::string name = (cache / scratch_prefix).string() + "XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("cannot make a directory in " + cache.string());
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace mantissa
