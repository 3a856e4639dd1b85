// Turns SystemVerilog into a shared object that the program loads (dut_api.h), with Verilator and g++.
// Objects are cached by what they are made of, so that only the first run of a device waits for the compiler.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/dut/device_cache.hpp"

namespace mantissa {

struct VerilatorJob {
  std::vector<std::filesystem::path> files;
  std::vector<std::filesystem::path> library_dirs;  // a module's file is found here by its name
  std::vector<std::filesystem::path> include_dirs;
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::string top;
  std::vector<std::pair<std::string, std::string>> parameters;
  bool wave = false;
  bool coverage = false;
  // All that the sources are made of lies in `files`, `library_dirs` and `include_dirs` themselves: then
  // their text alone tells whether the device is known, and Verilator need not run.
  bool closed = false;
};

// Verilator or the compiler refused the sources. `what` is advice; `output` is what the tool said.
class VerilatorError : public std::runtime_error {
 public:
  VerilatorError(const std::string& advice, std::string output)
      : runtime_error(advice), output_(std::move(output)) {}
  const std::string& output() const { return output_; }

 private:
  std::string output_;
};

// A unit of this project: its sources, or files of the same names in another directory.
VerilatorJob unit_job(const std::string& module, const std::vector<std::pair<std::string, int>>& parameters,
                      const std::filesystem::path& directory = {});

struct CompiledDevice {
  CachedFilePointer object;
  // Verilator sees circular logic where vectors run through themselves bit by bit, and may settle it wrongly.
  bool circular = false;
};

// Throws std::invalid_argument for a file that is not there, VerilatorError for
// sources that do not compile, std::runtime_error where a tool is missing.
CompiledDevice verilate(const VerilatorJob& job);

}  // namespace mantissa
