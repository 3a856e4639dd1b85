// Codes of up to 32 bits side by side without gaps, lowest bits first, as buffers and DRAM hold them
// (ARITHMETIC.md 7, "Steps": n elements of b bits take ceil(n*b/8) bytes).
#pragma once

#include <cstdint>
#include <span>

namespace mantissa {

constexpr std::int64_t packed_bytes(std::int64_t elements, int bits) { return (elements * bits + 7) / 8; }

inline std::uint32_t packed_element(std::span<const std::uint8_t> bytes, std::int64_t index, int bits) {
  if (bits == 8) return bytes[index];
  const std::int64_t first = index * bits;
  std::uint64_t window = 0;
  for (std::int64_t i = (first + bits - 1) / 8; i >= first / 8; --i) window = window << 8 | bytes[i];
  return static_cast<std::uint32_t>((window >> (first % 8)) & ((std::uint64_t{1} << bits) - 1));
}

inline void set_packed_element(std::span<std::uint8_t> bytes, std::int64_t index, int bits,
                               std::uint32_t value) {
  if (bits == 8) {
    bytes[index] = static_cast<std::uint8_t>(value);
    return;
  }
  const std::int64_t first = index * bits;
  const std::uint64_t mask = ((std::uint64_t{1} << bits) - 1) << (first % 8);
  const std::uint64_t shifted = (static_cast<std::uint64_t>(value) << (first % 8)) & mask;
  for (std::int64_t i = first / 8, low = 0; i <= (first + bits - 1) / 8; ++i, low += 8) {
    const auto keep = static_cast<std::uint8_t>(~(mask >> low));
    bytes[i] = static_cast<std::uint8_t>((bytes[i] & keep) | static_cast<std::uint8_t>(shifted >> low));
  }
}

}  // namespace mantissa
