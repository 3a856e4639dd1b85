#include "models/random/lfsr.hpp"

#include <array>
#include <numeric>
#include <stdexcept>
#include <string>

namespace mantissa {

void check_leap(int leap, int random_bits) {
  if (leap < 1 || leap > 32) {
    throw std::invalid_argument("LFSR leap " + std::to_string(leap) + " is out of range; it must be 1..32");
  }
  if (random_bits < 0 || random_bits > leap) {
    throw std::invalid_argument(std::to_string(random_bits) + " random bits are out of range; a leap of " +
                                std::to_string(leap) + " gives 1.." + std::to_string(leap));
  }
}

Lfsr::Lfsr(std::uint32_t seed, int leap) : state_(seed), leap_(leap) {
  if (seed == 0) throw std::invalid_argument("LFSR seed 0 never leaves 0; use any other 32-bit seed");
  check_leap(leap);
}

std::uint32_t Lfsr::draw() {
  for (int i = 0; i < leap_; ++i) state_ = lfsr_step(state_);
  return state_;
}

void Lfsr::skip(std::uint64_t draws) {
  // Element i moves a state by 2^i steps. 32 bits of draws times a leap of at most 2^5 need no more than 38.
  static const std::array<Gf2Matrix, 38> doubling = [] {
    std::array<Gf2Matrix, 38> powers;
    powers[0] = lfsr_step_matrix();
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * powers[i - 1];
    return powers;
  }();
  // The period divides 2^32 - 1, so the number of draws can be reduced first.
  std::uint64_t steps = (draws % 0xFFFFFFFFULL) * static_cast<std::uint64_t>(leap_);
  for (std::size_t i = 0; steps != 0; ++i, steps >>= 1) {
    if ((steps & 1) != 0) state_ = doubling[i] * state_;
  }
}

std::uint32_t leap_period_divisor(int leap) {
  return std::gcd(static_cast<std::uint32_t>(leap), std::uint32_t{0xFFFFFFFF});
}

std::vector<int> draw_recurrence(int leap) {
  constexpr int length = 128;  // twice the largest possible degree, with room to spare
  std::vector<int> bit(length);
  Lfsr lfsr(0xACE1U, leap);
  for (int& b : bit) b = static_cast<int>(lfsr.draw() & 1);

  std::vector<int> connection(length + 1);
  std::vector<int> previous(length + 1);
  connection[0] = previous[0] = 1;
  int degree = 0;
  int gap = 1;
  for (int n = 0; n < length; ++n) {
    int discrepancy = bit[n];
    for (int i = 1; i <= degree; ++i) discrepancy ^= connection[i] & bit[n - i];
    if (discrepancy == 0) {
      ++gap;
      continue;
    }
    const std::vector<int> saved = connection;
    for (int i = 0; i + gap <= length; ++i) connection[i + gap] ^= previous[i];
    if (2 * degree <= n) {
      degree = n + 1 - degree;
      previous = saved;
      gap = 1;
    } else {
      ++gap;
    }
  }
  std::vector<int> lags;
  for (int i = 1; i <= degree; ++i) {
    if (connection[i] != 0) lags.push_back(i);
  }
  return lags;
}

}  // namespace mantissa
