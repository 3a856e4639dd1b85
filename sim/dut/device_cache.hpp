// Where compiled devices are kept between runs.
#pragma once

#include <filesystem>
#include <string>

namespace mantissa {

// $MANTISSA_CACHE, else $XDG_CACHE_HOME/mantissa, else ~/.cache/mantissa, else a directory for temporary
// files.
std::filesystem::path device_cache();

// The same, made if it is not there, without what killed runs have left. Throws std::runtime_error where it
// belongs to another user: what this program loads it must have made itself.
std::filesystem::path open_device_cache();

// A file of that name in the cache, or among the devices that were compiled together with the program; empty:
// there is none.
std::filesystem::path find_in_cache(const std::filesystem::path& cache, const std::string& name);

// A directory in the cache that goes away with the object.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::filesystem::path& cache);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace mantissa
