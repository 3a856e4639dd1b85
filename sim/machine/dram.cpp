#include "sim/machine/dram.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "models/format/packed.hpp"

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

bool Dram::access_pieces(tlm::tlm_generic_payload& payload, const DramPieces& list) {
  const int bits = list.bits;
  std::int64_t end = 0;  // of the elements, as the tensor counts them
  for (const ElementPiece& piece : list.pieces) end = std::max(end, piece.first + piece.count);
  const std::uint64_t address = payload.get_address();
  if (address > bytes_.size() ||
      static_cast<std::uint64_t>(packed_bytes(end, bits)) > bytes_.size() - address ||
      packed_bytes(list.elements(), bits) != payload.get_data_length()) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  const std::span<std::uint8_t> tensor = std::span(bytes_).subspan(address);
  const std::span<std::uint8_t> data(payload.get_data_ptr(), payload.get_data_length());
  const auto copy = [bits](std::span<const std::uint8_t> from, std::int64_t at, std::span<std::uint8_t> to,
                           std::int64_t place, std::int64_t count) {
    if (bits % 8 == 0) {
      std::memcpy(to.data() + place * (bits / 8), from.data() + at * (bits / 8), count * (bits / 8));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i)
      set_packed_element(to, place + i, bits, packed_element(from, at + i, bits));
  };
  std::int64_t moved = 0;
  for (const ElementPiece& piece : list.pieces) {
    if (payload.is_read()) {
      copy(tensor, piece.first, data, moved, piece.count);
    } else {
      copy(data, moved, tensor, piece.first, piece.count);
    }
    moved += piece.count;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

bool Dram::access(tlm::tlm_generic_payload& payload) {
  if (const auto* pieces = payload.get_extension<DramPieces>()) return access_pieces(payload, *pieces);
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
