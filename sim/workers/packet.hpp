// Numbers as bytes of a packet and back, little-endian on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/workers/group.hpp"

namespace mantissa::workers {

class PacketWriter {
 public:
  PacketWriter& u32(std::uint32_t value) { return word(value, 4); }
  PacketWriter& u64(std::uint64_t value) { return word(value, 8); }
  PacketWriter& f64(double value);
  PacketWriter& floats(std::span<const float> values);
  // With its length before it.
  PacketWriter& block(std::span<const std::uint8_t> bytes);
  PacketWriter& text(std::string_view text);
  Bytes take() { return std::move(bytes_); }

 private:
  PacketWriter& word(std::uint64_t value, int bytes);
  Bytes bytes_;
};

// Every read throws std::invalid_argument where the packet has no more bytes.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::uint8_t> packet) : packet_(packet) {}

  std::uint32_t u32() { return static_cast<std::uint32_t>(word(4)); }
  std::uint64_t u64() { return word(8); }
  double f64();
  void floats(std::span<float> values);
  std::span<const std::uint8_t> block();
  std::string text();
  // Throws std::invalid_argument if something is left.
  void finish() const;

 private:
  std::span<const std::uint8_t> bytes(std::size_t count);
  std::uint64_t word(int bytes);

  std::span<const std::uint8_t> packet_;
  std::size_t position_ = 0;
};

}  // namespace mantissa::workers
