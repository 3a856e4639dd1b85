// 32 x 32 matrices over GF(2): how a linear generator is moved by any number of steps at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace mantissa {

// Column i is the image of bit i.
struct Gf2Matrix {
  std::array<std::uint32_t, 32> column{};

  static constexpr Gf2Matrix identity() {
    Gf2Matrix result;
    for (int i = 0; i < 32; ++i) result.column[i] = 1U << i;
    return result;
  }
  constexpr std::uint32_t operator*(std::uint32_t vector) const {
    std::uint32_t image = 0;
    for (; vector != 0; vector &= vector - 1) image ^= column[std::countr_zero(vector)];
    return image;
  }
  constexpr Gf2Matrix operator*(const Gf2Matrix& right) const {
    Gf2Matrix result;
    for (int i = 0; i < 32; ++i) result.column[i] = *this * right.column[i];
    return result;
  }
  constexpr Gf2Matrix power(std::uint64_t exponent) const {
    Gf2Matrix result = identity();
    Gf2Matrix square = *this;
    for (; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) result = square * result;
      square = square * square;
    }
    return result;
  }
  friend constexpr bool operator==(const Gf2Matrix&, const Gf2Matrix&) = default;
};

// The same map as four byte-indexed tables: one application is four loads and three XORs.
class Gf2Table {
 public:
  constexpr explicit Gf2Table(const Gf2Matrix& matrix) {
    for (std::uint32_t byte = 0; byte < 4; ++byte) {
      for (std::uint32_t value = 0; value < 256; ++value)
        table_[byte][value] = matrix * (value << (8 * byte));
    }
  }
  constexpr std::uint32_t operator*(std::uint32_t vector) const {
    return table_[0][vector & 255] ^ table_[1][(vector >> 8) & 255] ^ table_[2][(vector >> 16) & 255] ^
           table_[3][vector >> 24];
  }

 private:
  std::array<std::array<std::uint32_t, 256>, 4> table_{};
};

}  // namespace mantissa
