// The value on a port of any width: a plain value type, cheap up to 256 bits.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace mantissa {

class Bits {
 public:
  Bits() = default;
  explicit Bits(int width) : width_(width) {
    if (width > 32 * static_cast<int>(near_.size())) far_.resize((width + 31) / 32);
  }
  Bits(int width, std::uint64_t value);

  int width() const { return width_; }
  // The whole value; only the low 64 bits of a wider one.
  std::uint64_t value() const;
  // Up to 64 bits from bit `low` on.
  std::uint64_t field(int low, int width) const;
  void set_field(int low, int width, std::uint64_t value);
  // Many fields of up to 8 bits, side by side from bit `low` on; whole bytes are copied.
  void fields(int low, int width, std::span<std::uint8_t> values) const;
  void set_fields(int low, int width, std::span<const std::uint8_t> values);
  bool bit(int index) const { return field(index, 1) != 0; }
  void flip(int index) { words()[index / 32] ^= 1U << (index % 32); }

  // Lowest first; bits above the width are zero.
  std::span<const std::uint32_t> words() const {
    if (!far_.empty()) return far_;
    return std::span(near_).first((width_ + 31) / 32);
  }
  std::span<std::uint32_t> words() {
    if (!far_.empty()) return far_;
    return std::span(near_).first((width_ + 31) / 32);
  }

  std::string hex() const;  // as many digits as the width needs

  friend bool operator==(const Bits&, const Bits&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Bits& bits);

 private:
  int width_ = 0;
  std::array<std::uint32_t, 8> near_{};  // the words, unless there are more
  std::vector<std::uint32_t> far_;       // then all of them are here
};

// Fields of a packed value from the top down, as a SystemVerilog concatenation lists them.
class BitsPacker {
 public:
  explicit BitsPacker(int width) : bits_(width), next_(width) {}
  // Two's complement for negative numbers.
  BitsPacker& put(int width, std::uint64_t value) {
    next_ -= width;
    bits_.set_field(next_, width, value);
    return *this;
  }
  const Bits& bits() const { return bits_; }

 private:
  Bits bits_;
  int next_;
};

}  // namespace mantissa
