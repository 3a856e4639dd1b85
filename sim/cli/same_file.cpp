#include "sim/cli/same_file.hpp"

#include <stdexcept>

#include "sim/support/draft_files.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

// What cannot be found out is left to whoever opens the file: that names the reason.
fs::path resolved(const fs::path& path) {
  std::error_code unknown;
  const fs::path absolute = fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  return unknown ? path : absolute;
}

bool same(const fs::path& output, const fs::path& other) {
  std::error_code unknown;
  if (fs::equivalent(output, other, unknown)) return true;
  return resolved(written_file(output.string())) == resolved(other);
}

[[noreturn]] void refuse(const NamedFile& output, const NamedFile& other, const std::string& why) {
  throw std::invalid_argument(output.option + " " + in_quotes(output.path.string(), 200) + " and " +
                              other.option + " " + in_quotes(other.path.string(), 200) + why);
}

}  // namespace

void refuse_same_files(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    for (std::size_t j = 0; j < i; ++j) {
      if (same(output.path, written_file(outputs[j].path.string())))
        refuse(output, outputs[j], " are one file; each result needs its own");
    }
    for (const NamedFile& input : inputs) {
      if (same(output.path, input.path)) refuse(output, input, " are one file; it would be overwritten");
    }
  }
}

void refuse_files_in(const NamedFile& directory, const std::vector<NamedFile>& files) {
  fs::path target = resolved(directory.path);
  if (!target.has_filename()) target = target.parent_path();
  for (const NamedFile& file : files) {
    const fs::path path = resolved(file.path);
    if (path.parent_path() == target || path == target)
      refuse(directory, file, ": the directory is replaced, with what this command has in it");
  }
}

}  // namespace mantissa::cli
