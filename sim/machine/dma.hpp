// The one DMA engine: a transfer at a time between DRAM, over a TLM-2.0 socket, and the buffers.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sim/machine/dram_pieces.hpp"

namespace mantissa {

class Dma : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Dma> socket{"socket"};

  Dma(const sc_core::sc_module_name& name, const sc_core::sc_time& cycle);

  bool busy() const { return cycles_left_ > 0; }
  // A transfer begins with this cycle. What is read can be looked at once it has ended.
  void start_read(std::int64_t address, std::int64_t bytes);
  void start_write(std::int64_t address, std::span<const std::uint8_t> bytes);
  // A cycle passes; true: the transfer ends with it.
  bool clock();
  std::span<const std::uint8_t> data() const { return data_; }

  // Since the last call of forget().
  std::uint64_t bytes_moved() const { return bytes_moved_; }
  // Ends whatever is under way.
  void forget();

  // The host's way into DRAM and out of it: no time, not counted.
  void host_write(std::int64_t address, std::span<const std::uint8_t> bytes);
  void host_read(std::int64_t address, std::span<std::uint8_t> bytes);

 protected:
  // Moves the bytes and counts them; returns the cycles that this takes alone.
  std::int64_t transport(tlm::tlm_command command, std::int64_t address, std::span<std::uint8_t> data,
                         DramPieces* pieces = nullptr);

 private:
  sc_core::sc_time cycle_;
  std::vector<std::uint8_t> data_;
  std::int64_t cycles_left_ = 0;
  std::uint64_t bytes_moved_ = 0;
};

}  // namespace mantissa
