#include "sim/machine/dma.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace mantissa {
namespace {

// Throws for a block that the generic payload cannot describe: no buffer is that large.
unsigned payload_length(std::size_t bytes) {
  if (bytes > std::numeric_limits<unsigned>::max())
    throw std::invalid_argument("a transfer of " + std::to_string(bytes) + " bytes; it may have 2^32 - 1");
  return static_cast<unsigned>(bytes);
}

void describe(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::int64_t address,
              std::uint8_t* data, std::size_t bytes) {
  const unsigned length = payload_length(bytes);
  payload.set_command(command);
  payload.set_address(static_cast<std::uint64_t>(address));
  payload.set_data_ptr(data);
  payload.set_data_length(length);
  payload.set_streaming_width(length);
  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
}

void check(const tlm::tlm_generic_payload& payload) {
  if (!payload.is_response_ok())
    throw std::logic_error("DRAM refuses a transfer: " + payload.get_response_string());
}

}  // namespace

Dma::Dma(const sc_core::sc_module_name& name, const sc_core::sc_time& cycle)
    : sc_module(name), cycle_(cycle) {}

std::int64_t Dma::transport(tlm::tlm_command command, std::int64_t address, std::span<std::uint8_t> data,
                            DramPieces* pieces) {
  tlm::tlm_generic_payload payload;
  describe(payload, command, address, data.data(), data.size());
  payload.set_extension(pieces);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(payload, delay);
  payload.clear_extension(pieces);  // it stays the caller's
  check(payload);
  bytes_moved_ += data.size();
  return std::llround(delay / cycle_);
}

void Dma::start_read(std::int64_t address, std::int64_t bytes) {
  data_.resize(bytes);
  cycles_left_ = transport(tlm::TLM_READ_COMMAND, address, data_);
}

void Dma::start_write(std::int64_t address, std::span<const std::uint8_t> bytes) {
  data_.assign(bytes.begin(), bytes.end());
  cycles_left_ = transport(tlm::TLM_WRITE_COMMAND, address, data_);
}

bool Dma::clock() { return cycles_left_ > 0 && --cycles_left_ == 0; }

void Dma::forget() {
  cycles_left_ = 0;
  bytes_moved_ = 0;
}

void Dma::host_write(std::int64_t address, std::span<const std::uint8_t> bytes) {
  tlm::tlm_generic_payload payload;
  // A write does not touch the data.
  describe(payload, tlm::TLM_WRITE_COMMAND, address, const_cast<std::uint8_t*>(bytes.data()), bytes.size());
  socket->transport_dbg(payload);
  check(payload);
}

void Dma::host_read(std::int64_t address, std::span<std::uint8_t> bytes) {
  tlm::tlm_generic_payload payload;
  describe(payload, tlm::TLM_READ_COMMAND, address, bytes.data(), bytes.size());
  socket->transport_dbg(payload);
  check(payload);
}

}  // namespace mantissa
