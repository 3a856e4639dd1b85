#include "models/sampling/double_sampler.hpp"

#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

void check_sizes(int intervals, int random_bits) {
  if (intervals < 1 || intervals > 255) {
    throw std::invalid_argument("the double sampler has 1..255 intervals, not " + std::to_string(intervals));
  }
  if (random_bits < 1 || random_bits > 32) {
    throw std::invalid_argument("the double sampler takes 1..32 random bits, not " +
                                std::to_string(random_bits));
  }
}

}  // namespace

DoubleSampler::DoubleSampler(float scale, int intervals, int random_bits)
    : intervals_(intervals), random_bits_(random_bits) {
  if (!std::isfinite(scale) || scale < 0) {
    throw std::invalid_argument("the double sampler's scale must be finite and at least 0");
  }
  check_sizes(intervals, random_bits);
  if (scale == 0) return;  // every sample is +0
  levels_per_unit_ = f32::div(static_cast<float>(intervals), scale);
  step_ = f32::div(scale, static_cast<float>(intervals));
}

DoubleSampler DoubleSampler::from_registers(float levels_per_unit, float step, int intervals,
                                            int random_bits) {
  check_sizes(intervals, random_bits);
  DoubleSampler sampler;
  sampler.intervals_ = intervals;
  sampler.random_bits_ = random_bits;
  sampler.levels_per_unit_ = levels_per_unit;
  sampler.step_ = step;
  return sampler;
}

float DoubleSampler::position(float value) const { return f32::mul(std::fabs(value), levels_per_unit_); }

DoubleSample DoubleSampler::sample(float value, std::uint32_t first_draw, std::uint32_t second_draw) const {
  return sample_at(position(value), value, first_draw, second_draw);
}

DoubleSample DoubleSampler::sample_at(float position, float value, std::uint32_t first_draw,
                                      std::uint32_t second_draw) const {
  if (std::isnan(value)) return {.invalid = true};
  if (levels_per_unit_ == 0) return {};
  if (std::isnan(position)) return {.invalid = true};  // 0 * Inf: the scale is so small that s/M overflowed
  DoubleSample result{.negative = std::signbit(value)};
  const Exact level = decode(fp32_bits(position), formats::fp32);
  if (level.is_zero()) return result;
  if (position >= static_cast<float>(intervals_)) {
    result.base = static_cast<std::uint8_t>(intervals_);
    return result;
  }
  const std::uint64_t base = round_to_multiple(level, 0, Rounding::rtz(), 0).count;
  const auto up = [&](std::uint32_t draw) {
    return round_to_multiple(level, 0, Rounding::sr(random_bits_), draw).count != base;
  };
  result.base = static_cast<std::uint8_t>(base);
  result.up = {up(first_draw), up(second_draw)};
  return result;
}

std::vector<DoubleSample> DoubleSampler::sample(std::span<const float> values,
                                                const DrawSource& draws) const {
  check_leap(draws.leap, random_bits_);
  if (draws.lanes < 1) throw std::invalid_argument("a draw source needs at least one lane");
  std::vector<Lfsr> lanes;
  lanes.reserve(draws.lanes);
  for (int lane = 0; lane < draws.lanes; ++lane) lanes.push_back(draws.lane(lane));
  std::vector<DoubleSample> samples;
  samples.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    Lfsr& lane = lanes[i % lanes.size()];
    const std::uint32_t first = lane.draw();
    const std::uint32_t second = lane.draw();
    samples.push_back(sample(values[i], first, second));
  }
  return samples;
}

float DoubleSampler::value(const DoubleSample& sample, int which) const {
  const int level = sample.base + (sample.up.at(which) ? 1 : 0);
  const float magnitude = f32::mul(step_, static_cast<float>(level));
  return sample.negative ? -magnitude : magnitude;
}

int DoubleSampler::stored_bits() const { return 1 + std::bit_width(static_cast<unsigned>(intervals_)) + 2; }

}  // namespace mantissa
