#include "models/update/loss_scale.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace mantissa {
namespace {

void check_exponent(int exponent, const std::string& what) {
  if (exponent < LossScale::min_exponent || exponent > LossScale::max_exponent) {
    throw std::invalid_argument(what + " 2^" + std::to_string(exponent) +
                                " is out of range; it must be 2^-14 to 2^24");
  }
}

}  // namespace

void LossScaleConfig::check() const {
  check_exponent(initial_exponent, "initial loss scale");
  if (growth_interval < 1) {
    throw std::invalid_argument("the growth interval must be at least 1 step, not " +
                                std::to_string(growth_interval));
  }
  for (std::size_t i = 0; i < floors.size(); ++i) {
    check_exponent(floors[i].exponent, "loss scale floor");
    if (floors[i].step < 0) throw std::invalid_argument("a loss scale floor cannot begin before step 0");
    if (i > 0 && (floors[i].step <= floors[i - 1].step || floors[i].exponent < floors[i - 1].exponent)) {
      throw std::invalid_argument("the floors of the loss scale must have ascending steps and never fall");
    }
  }
}

LossScale::LossScale(LossScaleConfig config)
    : config_(std::move(config)), exponent_(config_.initial_exponent) {
  config_.check();
  clamp();
}

float LossScale::value() const { return std::ldexp(1.0F, exponent_); }

void LossScale::update(bool skipped) {
  if (skipped) {
    --exponent_;
    clean_steps_ = 0;
  } else if (++clean_steps_ == config_.growth_interval) {
    ++exponent_;
    clean_steps_ = 0;
  }
  ++step_;
  clamp();
}

void LossScale::clamp() {
  int floor = min_exponent;
  for (const LossScaleFloor& rise : config_.floors) {
    if (rise.step <= step_) floor = rise.exponent;
  }
  exponent_ = std::clamp(exponent_, floor, max_exponent);
}

void LossScale::restore(int exponent, std::int64_t step, std::int64_t clean_steps) {
  if (exponent < min_exponent || exponent > max_exponent || step < 0 || clean_steps < 0) {
    throw std::invalid_argument("a loss scale of 2^" + std::to_string(exponent) + " after " +
                                std::to_string(step) + " steps, " + std::to_string(clean_steps) +
                                " of them clean, cannot be");
  }
  exponent_ = exponent;
  step_ = step;
  clean_steps_ = clean_steps;
}

}  // namespace mantissa
