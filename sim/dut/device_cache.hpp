// Where compiled devices are kept between runs: a directory that this program has made, for its user alone.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sim/support/ending_signals.hpp"

namespace mantissa {

// Closes a file descriptor.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int descriptor = -1) : descriptor_(descriptor) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  OwnDescriptor& operator=(OwnDescriptor&& other) noexcept;
  ~OwnDescriptor();
  int get() const { return descriptor_; }
  // A path to the open file itself, for this process and for tools that it runs, whatever becomes of the name
  // under which it was opened.
  std::string path() const;

 private:
  int descriptor_;
};

class ScratchDirectory;

// A file of the cache, open, with the content that was put there. What is behind path() is what was checked.
class CachedFile {
 public:
  explicit CachedFile(OwnDescriptor file) : file_(std::move(file)) {}
  std::string path() const { return file_.path(); }

 private:
  OwnDescriptor file_;
};
using CachedFilePointer = std::shared_ptr<const CachedFile>;

class DeviceCache {
 public:
  // In $MANTISSA_CACHE, else $XDG_CACHE_HOME/mantissa, else ~/.cache/mantissa, else a directory for temporary
  // files; made if it is not there, without what killed runs have left. Throws std::runtime_error where
  // another user could have written there: what this program loads it must have made itself.
  static DeviceCache open();
  // The one that was filled together with the program, if there is one that open() would take.
  static std::optional<DeviceCache> of_build();

  // Nothing where there is no such file, or not with the content that keep() has put there.
  CachedFilePointer find(const std::string& name) const;
  // Moves a file of a scratch directory of this cache to its place.
  CachedFilePointer keep(const ScratchDirectory& scratch, const std::string& file,
                         const std::string& name) const;

 private:
  friend class ScratchDirectory;
  explicit DeviceCache(OwnDescriptor directory) : directory_(std::move(directory)) {}
  static DeviceCache in(const OwnDescriptor& base, const std::string& shown_base);
  void remove_leftovers() const;

  OwnDescriptor directory_;
};

// A directory in the cache that goes away with the object, with the program if a signal ends it, and with the
// next run if it is killed.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const DeviceCache& cache);
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();
  // For this process and for tools that it runs.
  std::filesystem::path path() const { return directory_.path(); }

 private:
  friend class DeviceCache;
  OwnDescriptor cache_;
  std::string name_;   // in the cache
  std::string entry_;  // its path, for a signal's handler
  OwnDescriptor directory_;
  std::optional<RemovedAtSignal> removed_;
};

}  // namespace mantissa
