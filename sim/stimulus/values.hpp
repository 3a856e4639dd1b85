// Operand values for test vectors: the interesting codes of a format, and random codes that reach every
// exponent. The random numbers are counter-based, so a vector is the same on every machine and does not
// depend on the vectors before it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/format/exact.hpp"
#include "models/format/format.hpp"
#include "models/random/stream.hpp"

namespace mantissa::stimulus {

class Dice {
 public:
  // The random numbers of one vector.
  Dice(std::uint64_t seed, std::uint64_t vector) : key_(mix(mix(seed) ^ vector)) {}

  std::uint64_t next() { return mix(key_ ^ count_++); }
  // 0 .. limit-1.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  std::uint32_t bits(int count) { return static_cast<std::uint32_t>(next() >> (64 - count)); }
  // low .. high.
  int between(int low, int high) { return low + static_cast<int>(below(high - low + 1)); }

 private:
  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

// Both signs of: 0, the smallest and largest subnormal, the smallest normal, 1, the largest finite number,
// Inf; the canonical NaN and a signalling one. Where the format has them, each code once.
std::vector<std::uint32_t> corner_codes(const Format& format);
// Those, and both signs of: the neighbours above of the smallest normal and of 1, the neighbours below of 1,
// 2 and the largest finite number, 1.5; NaN with its sign set.
std::vector<std::uint32_t> many_corner_codes(const Format& format);
// The finite ones of corner_codes without a sign.
std::vector<std::uint32_t> positive_corner_codes(const Format& format);
// 0, the middle, the largest value of R.
std::vector<std::uint32_t> random_corners(int random_bits);

// One in sixteen is a corner; otherwise sign and exponent field are uniform, and the mantissa is uniform,
// nearly empty or nearly full.
std::uint32_t random_code(Dice& dice, const Format& format);
// The exponent is within `spread` of the given one: addends that meet, quotients that stay in range.
std::uint32_t random_code_near(Dice& dice, const Format& format, int exponent, int spread);
// One whose exponent makes it interact with `other` in an adder: half of them near it, half anywhere.
std::uint32_t random_addend(Dice& dice, const Format& format, const Exact& other);

}  // namespace mantissa::stimulus
