#include "sim/verify/units/range_bn_channel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "models/format/convert.hpp"
#include "models/format/named.hpp"

namespace mantissa::verify {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();
constexpr float smallest = std::numeric_limits<float>::denorm_min();

// x, g and the number of chunks.
struct Corner {
  std::vector<float> x;
  std::vector<float> g;
  std::int64_t chunks;
};

const std::vector<Corner>& corners() {
  static const std::vector<Corner> list = {
      {{1, -2, 4, 3}, {1, 0, 0, 0.5F}, 1},  // ARITHMETIC.md 8
      {{1, 2}, {1, -1}, 1},
      {{5, 5, 5}, {1, 2, 3}, 1},                      // argmax is argmin
      {{0.0F, -0.0F, 0.0F, -0.0F}, {1, 1, 1, 1}, 2},  // zeros of both signs are equal
      {{3, 1, 3, 1}, {1, 2, 3, 4}, 1},                // the first among equals
      {{nan, 1, 2, 3}, {1, 1, 1, 1}, 1},              // the indices stay at a NaN that comes first
      {{1, nan, 2, 0}, {1, 1, 1, 1}, 1},              // and never move to one
      {{1, 2, nan, 3}, {0, nan, 1, 0}, 2},
      {{inf, 1, 2, -inf}, {1, 1, 1, 1}, 1},
      {{inf, inf}, {1, 1}, 1},
      {{1, 2, inf, 3}, {inf, 1, -inf, 1}, 2},
      {{largest, -largest, 1, 0}, {largest, largest, 1, 1}, 1},  // sums and the range overflow
      {{smallest, -smallest, 0, smallest}, {smallest, 0, -smallest, smallest}, 2},
      {{1, -1, 2, -2, 3, -3, 4, -4}, {1, 2, 3, 4, 5, 6, 7, 8}, 4},
  };
  return list;
}

enum class Magnitudes : std::uint8_t { anything, near, spread, sparse, few, with_outliers, constant, count };

float value(stimulus::Dice& dice, Magnitudes magnitudes, int exponent) {
  const Format& fp32 = formats::fp32;
  switch (magnitudes) {
    case Magnitudes::anything:
      return fp32_value(stimulus::random_code(dice, fp32));
    case Magnitudes::spread:
      return fp32_value(stimulus::random_code_near(dice, fp32, exponent, 20));
    case Magnitudes::sparse:
      if (dice.below(3) == 0) return fp32_value(stimulus::random_code_near(dice, fp32, exponent, 2));
      return dice.below(2) == 0 ? 0.0F : -0.0F;
    case Magnitudes::few:
      return std::ldexp(static_cast<float>(dice.between(-2, 2)), exponent / 4);
    case Magnitudes::with_outliers:
      if (dice.below(16) == 0) return fp32_value(stimulus::random_code(dice, fp32));
      [[fallthrough]];
    case Magnitudes::near:
    case Magnitudes::constant:
      return fp32_value(stimulus::random_code_near(dice, fp32, exponent, 2));
    case Magnitudes::count:
      break;
  }
  throw std::logic_error("no such magnitudes");
}

// Mostly of the size that networks have, sometimes at the ends of FP32.
int random_exponent(stimulus::Dice& dice) {
  return dice.below(3) == 0 ? dice.between(-145, 126) : dice.between(-12, 8);
}

std::vector<float> values(stimulus::Dice& dice, std::size_t count) {
  const auto magnitudes = static_cast<Magnitudes>(dice.below(static_cast<std::uint64_t>(Magnitudes::count)));
  const int exponent = random_exponent(dice);
  std::vector<float> list(count);
  for (float& v : list) v = value(dice, magnitudes, exponent);
  if (magnitudes == Magnitudes::constant) std::fill(list.begin(), list.end(), list[0]);
  return list;
}

// Mostly near 1, sometimes next to the subnormals, sometimes anything.
float parameter(stimulus::Dice& dice) {
  switch (dice.below(6)) {
    case 0:
      return any_fp32(dice);
    case 1:
      return fp32_value(stimulus::random_code_near(dice, formats::fp32, -135, 12));
    default:
      return fp32_value(stimulus::random_code_near(dice, formats::fp32, 0, 3));
  }
}

}  // namespace

RangeBnChannel range_bn_channel(std::uint64_t index, std::size_t longest, stimulus::Dice& dice) {
  RangeBnChannel channel;
  channel.config.constant = dice.below(2) == 0 ? RangeConstant::paper : RangeConstant::reference;
  channel.gamma = parameter(dice);
  channel.beta = dice.below(4) != 0 ? parameter(dice) : dice.below(2) == 0 ? 0.0F : -0.0F;
  if (index < corners().size()) {
    const Corner& corner = corners()[index];
    channel.x = corner.x;
    channel.g = corner.g;
    channel.config.chunks = corner.chunks;
    if (index == 0) channel = {corner.x, corner.g, 2.0F, 0.5F, {}};
    return channel;
  }
  // Many short chunks fill the unit's pipeline with their indices.
  const bool short_chunks = dice.below(2) == 0;
  std::uint64_t chunk_length = 2 + dice.below(short_chunks ? 3 : 30);
  channel.config.chunks =
      dice.below(2) == 0 ? 1 : 1 + static_cast<std::int64_t>(dice.below(short_chunks ? 16 : 6));
  if (index % 400 == 100) {
    chunk_length = 2 + dice.below(4000);
    channel.config.chunks = 2;
  }
  chunk_length =
      std::min<std::uint64_t>(chunk_length, longest / static_cast<std::uint64_t>(channel.config.chunks));
  const std::size_t n = chunk_length * static_cast<std::size_t>(channel.config.chunks);
  channel.x = values(dice, n);
  channel.g = values(dice, n);
  return channel;
}

float any_fp32(stimulus::Dice& dice) {
  const std::vector<std::uint32_t> corners = stimulus::many_corner_codes(formats::fp32);
  if (dice.below(2) == 0) return fp32_value(corners[dice.below(corners.size())]);
  return fp32_value(stimulus::random_code(dice, formats::fp32));
}

Bits fp32_port(float value) { return {32, fp32_bits(value)}; }

bool has_nan(const std::vector<float>& values) {
  return std::any_of(values.begin(), values.end(), [](float value) { return std::isnan(value); });
}

}  // namespace mantissa::verify
