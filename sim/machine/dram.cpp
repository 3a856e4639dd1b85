#include "sim/machine/dram.hpp"

#include <cstring>

namespace mantissa {

Dram::Dram(const sc_core::sc_module_name& name, const Architecture& arch, const sc_core::sc_time& cycle)
    : sc_module(name),
      latency_cycles_(arch.dram_latency_cycles),
      burst_bytes_(arch.dram_burst_bytes),
      burst_cycles_(arch.dram_burst_cycles),
      cycle_(cycle) {
  socket.register_b_transport(this, &Dram::b_transport);
  socket.register_transport_dbg(this, &Dram::transport_dbg);
}

bool Dram::access(tlm::tlm_generic_payload& payload) {
  const std::uint64_t address = payload.get_address();
  const std::uint64_t length = payload.get_data_length();
  if (address > bytes_.size() || length > bytes_.size() - address) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  if (payload.is_read()) {
    std::memcpy(payload.get_data_ptr(), bytes_.data() + address, length);
  } else if (payload.is_write()) {
    std::memcpy(bytes_.data() + address, payload.get_data_ptr(), length);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

void Dram::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (!access(payload)) return;
  const std::int64_t bursts = (payload.get_data_length() + burst_bytes_ - 1) / burst_bytes_;
  delay += cycle_ * static_cast<double>(latency_cycles_ + burst_cycles_.times(bursts));
}

unsigned Dram::transport_dbg(tlm::tlm_generic_payload& payload) {
  return access(payload) ? payload.get_data_length() : 0;
}

}  // namespace mantissa
