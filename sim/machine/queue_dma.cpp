#include "sim/machine/queue_dma.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/arch/sizes.hpp"

namespace mantissa {

QueueDma::QueueDma(const sc_core::sc_module_name& name, const Architecture& arch,
                   const sc_core::sc_time& cycle)
    : Dma(name, cycle),
      latency_(arch.dram_latency_cycles),
      burst_bytes_(arch.dram_burst_bytes),
      burst_cycles_(arch.dram_burst_cycles),
      most_(static_cast<std::size_t>(arch.dram_outstanding)) {}

void QueueDma::issue(tlm::tlm_command command, std::int64_t address, DramPieces& pieces,
                     std::vector<std::uint8_t> data) {
  if (!has_room()) throw std::logic_error("more transfers in flight than there may be");
  const std::int64_t alone = transport(command, address, data, &pieces);
  const std::int64_t cycles = alone - latency_;
  flying_.push_back(
      {.latency_left = latency_, .data_cycles = cycles, .data_left = cycles, .data = std::move(data)});
}

void QueueDma::issue_read(std::int64_t address, DramPieces& pieces) {
  issue(tlm::TLM_READ_COMMAND, address, pieces,
        std::vector<std::uint8_t>(packed_bytes(pieces.elements(), pieces.bits)));
}

void QueueDma::issue_write(std::int64_t address, DramPieces& pieces, std::span<const std::uint8_t> packed) {
  issue(tlm::TLM_WRITE_COMMAND, address, pieces, {packed.begin(), packed.end()});
}

// Data of the oldest moves in this cycle if its latency was over before; the others wait, and their latencies
// pass meanwhile.
bool QueueDma::clock() {
  if (flying_.empty()) return false;
  Transfer& oldest = flying_.front();
  if (oldest.latency_left == 0) --oldest.data_left;
  for (Transfer& transfer : flying_) {
    if (transfer.latency_left > 0) --transfer.latency_left;
  }
  if (oldest.data_left > 0) return false;
  ended_ = std::move(oldest.data);
  flying_.pop_front();
  return true;
}

// Whole bursts.
std::span<const std::uint8_t> QueueDma::arrived() const {
  if (flying_.empty()) return {};
  const Transfer& oldest = flying_.front();
  const std::int64_t bursts =
      (oldest.data_cycles - oldest.data_left) * burst_cycles_.denominator / burst_cycles_.numerator;
  return std::span(oldest.data).first(std::min(bursts * burst_bytes_, std::ssize(oldest.data)));
}

void QueueDma::forget() {
  Dma::forget();
  flying_.clear();
  ended_.clear();
}

}  // namespace mantissa
