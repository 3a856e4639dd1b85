// The one random generator of every unit: a 32-bit Galois LFSR that leaps LEAP steps per draw.
#pragma once

#include <cstdint>
#include <vector>

#include "models/random/gf2.hpp"

namespace mantissa {

// x^32 + x^22 + x^2 + x + 1, shifting right.
constexpr std::uint32_t lfsr_step(std::uint32_t state) {
  return (state >> 1) ^ ((state & 1) != 0 ? 0x80200003U : 0U);
}

constexpr Gf2Matrix lfsr_step_matrix() {
  Gf2Matrix matrix;
  for (int i = 0; i < 32; ++i) matrix.column[i] = lfsr_step(1U << i);
  return matrix;
}

class Lfsr {
 public:
  static constexpr int default_leap = 16;

  // Throws std::invalid_argument for seed 0 and for leap outside 1..32.
  explicit Lfsr(std::uint32_t seed, int leap = default_leap);

  std::uint32_t state() const { return state_; }
  int leap() const { return leap_; }

  // Advances by one draw and returns the new state; R is its low r bits.
  std::uint32_t draw();
  // Advances by `draws` draws in O(log draws).
  void skip(std::uint64_t draws);

 private:
  std::uint32_t state_;
  int leap_;
};

// Refuses a leap outside 1..32, and random bits outside 1..leap (0 bits: nothing is drawn).
void check_leap(int leap, int random_bits = 0);

// gcd(leap, 2^32-1): above 1 the draws repeat after (2^32-1)/gcd instead of 2^32-1.
std::uint32_t leap_period_divisor(int leap);

// Lags l of the shortest linear recurrence of the draws: draw[n] = XOR over l of draw[n - l]. Found by
// Berlekamp-Massey; every bit of the state obeys it. By Frobenius, so does the sequence with all lags
// doubled.
std::vector<int> draw_recurrence(int leap);

}  // namespace mantissa
