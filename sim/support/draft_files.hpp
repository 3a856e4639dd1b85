// Files that appear under their names only when they are complete and on the disk; however the program ends,
// no draft stays: one that was left behind by SIGKILL goes with the next draft in its directory.
#pragma once

#include <optional>
#include <string>

#include "sim/support/ending_signals.hpp"
#include "sim/support/output.hpp"

namespace mantissa {

class DraftFile {
 public:
  // A draft with a name of its own in the directory of `path`; of its target, where `path` is a symbolic
  // link. Throws std::runtime_error where `path` is there and not a regular file, or the draft cannot be
  // made.
  explicit DraftFile(std::string path);
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;
  ~DraftFile();  // removes a draft that was not published

  Output& out() { return output_; }

  // Puts it in place.
  void publish();
  // Puts both in place, or none. Runs that do so at the same time take turns, so that both files are of one
  // run.
  static void publish(DraftFile& first, DraftFile& second);

 private:
  void make();
  void finish();
  void rename();
  // The same, after which take_back() undoes it.
  void exchange();
  void take_back();

  std::string path_;    // as given, for messages
  std::string target_;  // behind symbolic links
  std::string draft_;
  bool holds_former_ = false;  // the draft's name: the target's content before exchange()
  std::optional<RemovedAtSignal> removed_;
  int descriptor_ = -1;  // locked as long as the draft is somebody's
  Output output_;
};

// The file that writing to `path` would change: the target of symbolic links, there or not. Throws
// std::runtime_error where `path` is there and not a regular file.
std::string written_file(const std::string& path);

// Makes what was renamed or created in a directory survive a loss of power. Throws std::runtime_error.
void sync_directory(const std::string& directory);

// Draft number `number` of this process: ".mantissa-<process>-<number>.tmp".
std::string draft_name(int number);
// Takes the lock that says that a draft is somebody's; false: it has been removed in the meantime.
bool keep_draft(int descriptor);
// Removes drafts, files and flat directories, whose programs are gone.
void remove_stale_drafts(const std::string& directory);

}  // namespace mantissa
