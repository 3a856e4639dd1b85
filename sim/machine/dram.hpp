// DRAM behind a TLM-2.0 socket: it holds the bytes, and a transaction takes the latency and the bursts that
// it needs (ARITHMETIC.md 7, "DMA"). One with DramPieces gathers or scatters elements.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/machine/dram_pieces.hpp"

namespace mantissa {

class Dram : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Dram> socket{"socket"};

  Dram(const sc_core::sc_module_name& name, const Architecture& arch, const sc_core::sc_time& cycle);

  // All bytes are 0 afterwards.
  void resize(std::int64_t bytes) { bytes_.assign(bytes, 0); }

 private:
  bool access(tlm::tlm_generic_payload& payload);
  bool access_pieces(tlm::tlm_generic_payload& payload, const DramPieces& list);
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  // The host's way in and out: takes no time.
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);

  std::int64_t latency_cycles_;
  std::int64_t burst_bytes_;
  Ratio burst_cycles_;
  sc_core::sc_time cycle_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace mantissa
