#include "sim/report/report_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "sim/report/figures.hpp"
#include "sim/report/plot_tool.hpp"
#include "sim/report/report_csv.hpp"
#include "sim/report/report_json.hpp"
#include "sim/report/report_reader.hpp"
#include "sim/support/directory_entries.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/support/ending_signals.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// The only files that a former report may consist of: anything else is the user's, and is never removed.
bool is_ours(const fs::path& name) {
  static constexpr std::array<std::string_view, 7> plots = {"energy", "cycles",    "timeline", "roofline",
                                                            "sqnr",   "gradients", "speedup"};
  const std::string text = name.string();
  if (text == "report.json" || text == "layers.csv" || text == "report.html") return true;
  const bool picture = name.extension() == ".png" || name.extension() == ".svg";
  return picture && std::find(plots.begin(), plots.end(), name.stem().string()) != plots.end();
}

// Behind symbolic links, absolute, without a trailing slash.
fs::path resolved(const fs::path& directory) {
  if (directory.empty()) throw std::invalid_argument("the directory for the report has no name");
  fs::path path = fs::weakly_canonical(fs::absolute(directory));
  return path.has_filename() ? path : path.parent_path();
}

[[noreturn]] void refuse(const fs::path& directory, const std::string& reason) {
  throw std::invalid_argument(
      "will not write a report to " + directory.string() + ": " + reason +
      "; name a new directory, an empty one, or one that holds only an earlier report");
}

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::runtime_error("cannot " + what + " " + path.string() + ": " + std::strerror(error));
}

// Throws where `target` must not be replaced; `shown` is the user's name for it.
void check_target(const fs::path& target, const fs::path& shown) {
  std::error_code unknown;
  const fs::file_status status = fs::status(target, unknown);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) refuse(shown, "it exists and is not a directory");
  if (fs::equivalent(target, fs::current_path(), unknown) || target == target.root_path())
    refuse(shown, "it is the current directory or the root");
  const std::vector<std::string> names = entries_of(target.string());
  for (const std::string& name : names) {
    const bool plain = fs::is_regular_file(fs::symlink_status(target / name, unknown));
    if (!plain || !is_ours(name)) refuse(shown, "it holds " + in_quotes(name));
  }
  if (names.empty()) return;
  try {
    (void)read_report(target / "report.json");
  } catch (const std::exception&) {
    refuse(shown, "it holds files that are not a report");
  }
}

fs::path deepest_existing_ancestor(fs::path path) {
  do {
    path = path.parent_path();
  } while (!fs::exists(path) && path != path.parent_path());
  return path;
}

// A directory with a name of its own that goes away with the object unless it was published.
class DraftDirectory {
 public:
  explicit DraftDirectory(const fs::path& target) : target_(target) {
    const fs::path parent = deepest_existing_ancestor(target);
    remove_stale_drafts(parent.native());
    const SignalsHeld held;  // between making it and noting its name
    try {
      make(parent);
      removed_.emplace(draft_.native());
    } catch (...) {
      remove();
      throw;
    }
  }
  DraftDirectory(const DraftDirectory&) = delete;
  DraftDirectory& operator=(const DraftDirectory&) = delete;
  ~DraftDirectory() { remove(); }
  const fs::path& path() const { return draft_; }

  // After it the draft's name holds what was there before, if anything was.
  void publish() {
    const SignalsHeld held;
    fs::create_directories(target_.parent_path());
    replace();
    sync_directory(target_.parent_path().native());
  }

 private:
  void make(const fs::path& parent) {
    for (int number = 0; lock_ < 0; ++number) {
      // Named first: once it is there, nothing more may fail before its name is known.
      draft_ = parent / draft_name(number);
      if (::mkdir(draft_.c_str(), 0777) != 0) {
        const int error = errno;
        draft_.clear();  // somebody else's
        if (error == EEXIST) continue;
        fail("create a directory in", parent, error);
      }
      lock_ = ::open(draft_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      // Somebody may have taken it for one whose program is gone, and removed it.
      if (lock_ < 0 && errno != ENOENT) fail("open", draft_, errno);
      if (lock_ >= 0 && !keep_draft(lock_)) ::close(std::exchange(lock_, -1));
    }
  }

  void remove() {
    std::error_code ignored;
    if (!draft_.empty()) fs::remove_all(draft_, ignored);
    if (lock_ >= 0) ::close(lock_);
  }

  void replace() {
    // An empty directory is replaced by rename itself.
    if (::rename(draft_.c_str(), target_.c_str()) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) fail("create", target_, errno);
    if (::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) return;
    if (errno != EINVAL && errno != ENOSYS) fail("replace", target_, errno);
    exchange_in_steps();
  }

  // For file systems that cannot exchange: whatever fails, the former report stays or comes back.
  void exchange_in_steps() {
    const fs::path former = draft_.native() + ".former";
    if (::rename(target_.c_str(), former.c_str()) != 0) fail("replace", target_, errno);
    if (::rename(draft_.c_str(), target_.c_str()) != 0) {
      const int error = errno;
      ::rename(former.c_str(), target_.c_str());
      fail("replace", target_, error);
    }
    fs::remove_all(former);
  }

  fs::path target_;
  fs::path draft_;
  int lock_ = -1;  // that says that the draft is somebody's
  std::optional<RemovedAtSignal> removed_;
};

void write_file(const fs::path& path, const std::string& text) {
  DraftFile file(path.string());
  file.out().text(text);
  file.publish();
}

}  // namespace

void check_report_directory(const fs::path& directory) { check_target(resolved(directory), directory); }

std::vector<std::string> write_report(const ReplayReport& report, const fs::path& directory) {
  const fs::path target = resolved(directory);
  check_target(target, directory);
  const std::string json = report_json(report);
  const std::string csv = report_csv(report);
  DraftDirectory draft(target);
  write_file(draft.path() / "report.json", json);
  write_file(draft.path() / "layers.csv", csv);
  std::vector<std::string> notes = draw_plots(draft.path() / "report.json", draft.path(), page_columns());
  check_target(target, directory);  // what came in the meantime is not ours to replace
  draft.publish();
  return notes;
}

}  // namespace mantissa
