// The DMA of the second machine: transfers in flight whose latencies overlap, while data moves one transfer
// at a time, in their order (ARITHMETIC.md 7, "Blocks", "DMA").
#pragma once

#include <deque>

#include "sim/arch/architecture.hpp"
#include "sim/machine/dma.hpp"

namespace mantissa {

class QueueDma : public Dma {
 public:
  QueueDma(const sc_core::sc_module_name& name, const Architecture& arch, const sc_core::sc_time& cycle);

  std::size_t in_flight() const { return flying_.size(); }
  bool has_room() const { return in_flight() < most_; }
  // A transfer is issued at the begin of this cycle: elements of the tensor at `address`.
  void issue_read(std::int64_t address, DramPieces& pieces);
  void issue_write(std::int64_t address, DramPieces& pieces, std::span<const std::uint8_t> packed);
  // A cycle passes; true: the oldest transfer ends with it.
  bool clock();
  // Of the oldest transfer, what has come.
  std::span<const std::uint8_t> arrived() const;
  // Of the transfer that has ended last.
  std::span<const std::uint8_t> data() const { return ended_; }
  void forget();

 private:
  struct Transfer {
    std::int64_t latency_left = 0;  // cycles
    std::int64_t data_cycles = 0;
    std::int64_t data_left = 0;
    std::vector<std::uint8_t> data = {};
  };
  void issue(tlm::tlm_command command, std::int64_t address, DramPieces& pieces,
             std::vector<std::uint8_t> data);

  std::int64_t latency_;
  std::int64_t burst_bytes_;
  Ratio burst_cycles_;
  std::size_t most_;
  std::deque<Transfer> flying_;
  std::vector<std::uint8_t> ended_;
};

}  // namespace mantissa
