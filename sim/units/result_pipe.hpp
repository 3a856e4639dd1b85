// The registers behind a unit with state of its own: results on their way out, with the timing of
// rtl/pipe_reg.sv in a row. No register at all passes a result through.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace mantissa {

template <class Result>
class ResultPipe {
 public:
  explicit ResultPipe(int registers) : registers_(registers) {}

  // Whether it takes a result in this cycle, where the one that it offers is `taken` or not.
  bool ready(bool taken) const {
    for (const std::optional<Result>& reg : registers_) taken = taken || !reg;
    return taken;
  }
  // What it offers in this cycle.
  std::optional<Result> front(const std::optional<Result>& incoming) const {
    return registers_.empty() ? incoming : registers_.back();
  }
  // The clock edge.
  void advance(const std::optional<Result>& incoming, bool taken) {
    for (std::size_t i = registers_.size(); i-- > 0;) {
      taken = taken || !registers_[i];
      if (taken) registers_[i] = i == 0 ? incoming : registers_[i - 1];
    }
  }
  void reset() { registers_.assign(registers_.size(), std::nullopt); }

 private:
  std::vector<std::optional<Result>> registers_;
};

}  // namespace mantissa
