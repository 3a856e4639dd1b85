// RTL with a fault in it, for tests that have to find it.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "testbench/cli/scratch.hpp"

namespace mantissa::test {

// A copy of the RTL in which one line is wrong.
class FaultyRtl {
 public:
  FaultyRtl(const std::string& file, const std::string& right, const std::string& wrong) {
    std::filesystem::copy(MANTISSA_RTL_DIR, directory_);
    const std::filesystem::path path = directory_ / file;
    std::string text = contents(path);
    const std::size_t at = text.find(right);
    if (at == std::string::npos) throw std::runtime_error("no such text in " + file + ": " + right);
    std::ofstream(path) << text.replace(at, right.size(), wrong);
  }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  Scratch scratch_;
  std::filesystem::path directory_ = std::filesystem::path(scratch_.path()) / "rtl";
};

}  // namespace mantissa::test
