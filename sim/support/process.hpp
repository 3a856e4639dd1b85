// Runs a program and returns what it said.
#pragma once

#include <string>
#include <vector>

namespace mantissa {

struct ProcessResult {
  int exit_code = 0;   // 128 + signal where a signal ended it
  std::string output;  // standard output and standard error as they came
};

// The first argument is looked up in PATH; `settings` are NAME=VALUE for its environment. Throws
// std::runtime_error where it cannot be started. Whatever it starts ends with this program, even if that is
// killed.
ProcessResult run_process(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& settings = {});

}  // namespace mantissa
