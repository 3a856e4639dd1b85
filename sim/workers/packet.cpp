#include "sim/workers/packet.hpp"

#include <bit>
#include <limits>
#include <stdexcept>

namespace mantissa::workers {

PacketWriter& PacketWriter::word(std::uint64_t value, int bytes) {
  for (int byte = 0; byte < bytes; ++byte) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
  return *this;
}

PacketWriter& PacketWriter::f64(double value) { return u64(std::bit_cast<std::uint64_t>(value)); }

PacketWriter& PacketWriter::floats(std::span<const float> values) {
  for (const float value : values) u32(std::bit_cast<std::uint32_t>(value));
  return *this;
}

PacketWriter& PacketWriter::block(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max())
    throw std::invalid_argument("a block of a packet has at most 4 GiB");
  u32(static_cast<std::uint32_t>(bytes.size()));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

PacketWriter& PacketWriter::text(std::string_view text) {
  return block({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::span<const std::uint8_t> PacketReader::bytes(std::size_t count) {
  if (packet_.size() - position_ < count) {
    throw std::invalid_argument("a packet of " + std::to_string(packet_.size()) + " bytes ends before byte " +
                                std::to_string(position_ + count));
  }
  position_ += count;
  return packet_.subspan(position_ - count, count);
}

std::uint64_t PacketReader::word(int bytes) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const std::uint8_t byte : this->bytes(static_cast<std::size_t>(bytes))) {
    value |= std::uint64_t{byte} << shift;
    shift += 8;
  }
  return value;
}

double PacketReader::f64() { return std::bit_cast<double>(u64()); }

void PacketReader::floats(std::span<float> values) {
  for (float& value : values) value = std::bit_cast<float>(u32());
}

std::span<const std::uint8_t> PacketReader::block() { return bytes(u32()); }

std::string PacketReader::text() {
  const std::span<const std::uint8_t> text = block();
  return {text.begin(), text.end()};
}

void PacketReader::finish() const {
  if (position_ == packet_.size()) return;
  throw std::invalid_argument("a packet of " + std::to_string(packet_.size()) + " bytes has " +
                              std::to_string(packet_.size() - position_) + " too many");
}

}  // namespace mantissa::workers
