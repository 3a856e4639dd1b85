// A progress line with time to go on standard error, for long work; silent unless that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace mantissa::cli {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of `total` are finished; `what`, any text, is next.
  void show(std::size_t done, std::size_t total, const std::string& what);
  // Takes the line away, before other output.
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace mantissa::cli
