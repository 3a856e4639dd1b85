#include "sim/dut/bits.hpp"

#include <cstring>
#include <ostream>

namespace mantissa {
namespace {

constexpr std::uint64_t low_mask(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

}  // namespace

Bits::Bits(int width, std::uint64_t value) : Bits(width) { set_field(0, width < 64 ? width : 64, value); }

std::uint64_t Bits::value() const { return field(0, width_ < 64 ? width_ : 64); }

std::uint64_t Bits::field(int low, int width) const {
  unsigned __int128 window = 0;
  const std::span<const std::uint32_t> all = words();
  const int first = low / 32;
  for (int i = 0; i < 3 && first + i < static_cast<int>(all.size()); ++i) {
    window |= static_cast<unsigned __int128>(all[first + i]) << (32 * i);
  }
  return static_cast<std::uint64_t>(window >> (low % 32)) & low_mask(width);
}

void Bits::set_field(int low, int width, std::uint64_t value) {
  const int first = low / 32;
  const auto mask = static_cast<unsigned __int128>(low_mask(width)) << (low % 32);
  const auto bits = (static_cast<unsigned __int128>(value) << (low % 32)) & mask;
  const std::span<std::uint32_t> all = words();
  for (int i = 0; i < 3 && first + i < static_cast<int>(all.size()); ++i) {
    const auto keep = ~static_cast<std::uint32_t>(mask >> (32 * i));
    all[first + i] = (all[first + i] & keep) | static_cast<std::uint32_t>(bits >> (32 * i));
  }
}

// Little-endian, as everything that Verilator and this program run on.
void Bits::fields(int low, int width, std::span<std::uint8_t> values) const {
  if (width == 8 && low % 8 == 0) {
    std::memcpy(values.data(), reinterpret_cast<const std::uint8_t*>(words().data()) + low / 8,
                values.size());
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i, low += width)
    values[i] = static_cast<std::uint8_t>(field(low, width));
}

void Bits::set_fields(int low, int width, std::span<const std::uint8_t> values) {
  if (width == 8 && low % 8 == 0) {
    std::memcpy(reinterpret_cast<std::uint8_t*>(words().data()) + low / 8, values.data(), values.size());
    return;
  }
  for (const std::uint8_t value : values) {
    set_field(low, width, value);
    low += width;
  }
}

std::string Bits::hex() const {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (int low = (width_ - 1) / 4 * 4; low >= 0; low -= 4) text += digits[field(low, 4)];
  return text;
}

std::ostream& operator<<(std::ostream& out, const Bits& bits) { return out << bits.hex(); }

}  // namespace mantissa
