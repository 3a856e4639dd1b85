// The dynamic loss scale: a power of two that backs off, grows, and stays above a rising floor (ARITHMETIC.md
// 11; Mellempudi et al. 2019).
#pragma once

#include <cstdint>
#include <vector>

namespace mantissa {

// From this step on the scale is at least 2^exponent.
struct LossScaleFloor {
  std::int64_t step = 0;
  int exponent = 0;
};

struct LossScaleConfig {
  int initial_exponent = 16;
  std::int64_t growth_interval = 2000;      // clean steps before the scale doubles
  std::vector<LossScaleFloor> floors = {};  // steps ascending, exponents rising

  // Throws std::invalid_argument for exponents outside the limits or a schedule that does not rise.
  void check() const;
};

class LossScale {
 public:
  static constexpr int min_exponent = -14;
  static constexpr int max_exponent = 24;

  explicit LossScale(LossScaleConfig config);

  // The scale of the coming step is 2^exponent().
  int exponent() const { return exponent_; }
  float value() const;
  std::int64_t step() const { return step_; }

  std::int64_t clean_steps() const { return clean_steps_; }
  // Goes on where another one stood: what its exponent(), step() and clean_steps() were.
  void restore(int exponent, std::int64_t step, std::int64_t clean_steps);

  // After a step: it was skipped because of a non-finite gradient, or it was clean.
  void update(bool skipped);

 private:
  // The limits and the floor of the coming step.
  void clamp();

  LossScaleConfig config_;
  int exponent_;
  std::int64_t step_ = 0;
  std::int64_t clean_steps_ = 0;
};

}  // namespace mantissa
