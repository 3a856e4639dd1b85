// double_sampler: two independent stochastic quantisations of one value, so that their product is unbiased
// (ARITHMETIC.md 10; Zhang et al. 2017).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/random/stream.hpp"

namespace mantissa {

// Both samples lie on neighbouring levels, so the second one costs a single extra bit.
struct DoubleSample {
  bool negative = false;
  std::uint8_t base = 0;
  std::array<bool, 2> up{};
  bool invalid = false;  // a flag of the conversion, not stored
  friend bool operator==(const DoubleSample&, const DoubleSample&) = default;
};

class DoubleSampler {
 public:
  // Quantises [-scale, scale] to `intervals` steps on each side of zero with `random_bits` per draw. Throws
  // std::invalid_argument unless scale is finite and >= 0, intervals 1..255, random_bits 1..32.
  DoubleSampler(float scale, int intervals, int random_bits = 16);

  // The registers as the controller wrote them, in place of the scale M: fp32(s/M) and fp32(M/s), both 0 for
  // M = 0. Throws as above for intervals and random_bits.
  static DoubleSampler from_registers(float levels_per_unit, float step, int intervals, int random_bits = 16);
  float levels_per_unit() const { return levels_per_unit_; }
  float step() const { return step_; }

  // Each draw supplies R in its low random_bits bits.
  DoubleSample sample(float value, std::uint32_t first_draw, std::uint32_t second_draw) const;
  // The same in two steps: v' = fp32(|v| * fp32(s/M)), and the levels around it.
  float position(float value) const;
  DoubleSample sample_at(float position, float value, std::uint32_t first_draw,
                         std::uint32_t second_draw) const;

  // Element i takes draws 2*floor(i/lanes) and 2*floor(i/lanes)+1 of lane i mod lanes.
  std::vector<DoubleSample> sample(std::span<const float> values, const DrawSource& draws) const;

  // The value of sample `which`, 0 or 1.
  float value(const DoubleSample& sample, int which) const;

  // Bits of one stored element: sign, base, two up bits.
  int stored_bits() const;

 private:
  DoubleSampler() = default;

  int intervals_ = 1;
  int random_bits_ = 16;
  float levels_per_unit_ = 0.0F;  // fp32(s/M)
  float step_ = 0.0F;             // fp32(M/s)
};

}  // namespace mantissa
