#include "testbench/arch/walked_dma.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa::test {

WalkedDma::WalkedDma(const Architecture& arch, const std::vector<PlannedTransfer>& queue) : arch_(arch) {
  for (const PlannedTransfer& transfer : queue) queue_.push_back({.plan = transfer});
}

bool WalkedDma::awaits(PlannedTransfer::Kind kind, Count of) const {
  return std::any_of(queue_.begin(), queue_.end(),
                     [&](const Transfer& t) { return t.plan.kind == kind && t.plan.of == of; });
}

const PlannedTransfer* WalkedDma::next() const {
  if (in_flight_ == arch_.dram_outstanding || in_flight_ == static_cast<Count>(queue_.size())) return nullptr;
  return &queue_[in_flight_].plan;
}

void WalkedDma::issue_next() {
  if (next() == nullptr) throw std::logic_error("nothing can be issued");
  Transfer& issued = queue_[in_flight_++];
  issued.latency_left = arch_.dram_latency_cycles;
  for (Count left = issued.plan.bytes; left > 0; left -= arch_.dram_burst_bytes)
    issued.data_left += arch_.dram_burst_cycles.numerator;
}

std::optional<PlannedTransfer> WalkedDma::tick() {
  if (in_flight_ == 0) return std::nullopt;
  Transfer& oldest = queue_.front();
  if (oldest.latency_left == 0) oldest.data_left -= arch_.dram_burst_cycles.denominator;
  for (Count i = 0; i < in_flight_; ++i) {
    if (queue_[i].latency_left > 0) --queue_[i].latency_left;
  }
  if (oldest.data_left > 0) return std::nullopt;
  const PlannedTransfer ended = oldest.plan;
  queue_.pop_front();
  --in_flight_;
  return ended;
}

}  // namespace mantissa::test
