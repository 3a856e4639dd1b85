// The second machine's queue to DRAM in closed form (ARITHMETIC.md 7, "DMA" of "Blocks"): transfers are
// issued in order, so many are in flight, and their data follows one after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/arch/pass_timeline.hpp"

namespace mantissa {

// Keeps a reference.
class TransferQueue {
 public:
  explicit TransferQueue(const Architecture& arch)
      : arch_(arch), ends_(static_cast<std::size_t>(arch.dram_outstanding)) {}

  // Behind those before, and not before it is allowed. Returns when its data moves.
  Interval transfer(std::int64_t bytes, std::uint64_t allowed) {
    std::uint64_t& end = ends_[count_++ % ends_.size()];
    issue_ = std::max({issue_, end, allowed});
    const std::uint64_t begin =
        std::max(issue_ + static_cast<std::uint64_t>(arch_.dram_latency_cycles), end_);
    end = end_ = begin + static_cast<std::uint64_t>(arch_.data_cycles(bytes));
    bytes_ += static_cast<std::uint64_t>(bytes);
    return {begin, end_};
  }
  std::uint64_t end() const { return end_; }  // of the last transfer
  std::uint64_t bytes() const { return bytes_; }

 private:
  const Architecture& arch_;
  std::vector<std::uint64_t> ends_;  // of the last transfers, by their number mod dram_outstanding
  std::size_t count_ = 0;
  std::uint64_t issue_ = 0;  // of the last transfer
  std::uint64_t end_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace mantissa
