// Files that appear under their names only when they are complete; however the program ends, no draft stays.
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
  // Puts both in place, or none where the first cannot be. Runs that do so at the same time take turns, so
  // that both files are of one run.
  static void publish(DraftFile& first, DraftFile& second);

 private:
  void finish();
  void rename();

  std::string path_;    // as given, for messages
  std::string target_;  // behind symbolic links
  std::string draft_;
  std::optional<RemovedAtSignal> removed_;
  int descriptor_ = -1;
  Output output_;
};

}  // namespace mantissa
