// A command must not overwrite what it reads, or one of its results with another.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mantissa::cli {

struct NamedFile {
  std::string option;  // by which the user knows it
  std::filesystem::path path;
};

// Throws std::invalid_argument where two outputs, or an output and an input, are one file: by their paths
// behind symbolic links, there or not, or as hard links.
void refuse_same_files(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// The same where a file of the command is in the directory that is replaced as a whole.
void refuse_files_in(const NamedFile& directory, const std::vector<NamedFile>& files);

}  // namespace mantissa::cli
