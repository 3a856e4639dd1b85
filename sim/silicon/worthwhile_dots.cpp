#include "sim/silicon/worthwhile_dots.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/format/exact.hpp"
#include "sim/stimulus/values.hpp"

namespace mantissa::silicon {
namespace {

using stimulus::Dice;

std::uint8_t finite_near(Dice& dice, const Format& format, int exponent, int spread) {
  for (;;) {
    const std::uint32_t code = stimulus::random_code_near(dice, format, exponent, spread);
    if (!format.is_nan(code) && !format.is_inf(code)) return static_cast<std::uint8_t>(code);
  }
}

int clamped(const Format& format, int exponent) {
  return std::clamp(exponent, format.min_exponent() - format.mantissa_bits, format.max_exponent());
}

// The exponents of a product's two operands.
struct Exponents {
  int a = 0;
  int b = 0;
  int spread = 0;
};

// How far the small products of an alignment are below the large one: real devices cut 12 to 26 binades down.
int depth_of(std::uint64_t index) { return 9 + static_cast<int>(index / aims / 2 % 22); }

Exponents exponents_of(Aim aim, Dice& dice, const Format& a, const Format& b, bool large, int depth) {
  switch (aim) {
    case Aim::ordinary:
      return {0, 0, 2};
    case Aim::alignment: {
      if (large) return {a.max_exponent() - 1, b.max_exponent() - 1, 0};
      const int small = a.max_exponent() + b.max_exponent() - 2 - depth - dice.between(0, 3);
      const int first = clamped(a, small / 2);
      return {first, clamped(b, small - first), 0};
    }
    case Aim::cancellation:
      return {1, 1, 1};
    case Aim::subnormals:
      return {a.min_exponent() - 1, b.min_exponent(), 2};
    case Aim::overflow:
      return {a.max_exponent() - 1, b.max_exponent() - 1, 1};
  }
  throw std::logic_error("an aim that does not exist");
}

std::uint32_t start_of(Aim aim, Dice& dice, int large, int depth) {
  const auto near = [&](int exponent, int spread) {
    return stimulus::random_code_near(dice, formats::fp32, exponent, spread);
  };
  switch (aim) {
    case Aim::ordinary:
      return near(0, 2);
    case Aim::alignment:
      return near(large - depth, 1);
    case Aim::cancellation:
      return near(-12, 4);
    case Aim::subnormals:
      return near(formats::fp32.min_exponent(), 20);
    case Aim::overflow:
      return near(dice.between(12, 16), 2);
  }
  throw std::logic_error("an aim that does not exist");
}

}  // namespace

std::string_view name_of(Aim aim) {
  switch (aim) {
    case Aim::ordinary:
      return "ordinary";
    case Aim::alignment:
      return "alignment";
    case Aim::cancellation:
      return "cancellation";
    case Aim::subnormals:
      return "subnormals";
    case Aim::overflow:
      return "overflow";
  }
  throw std::logic_error("an aim that does not exist");
}

WorthwhileDot worthwhile_dot(const Format& a_format, const Format& b_format, std::size_t k,
                             std::uint64_t seed, std::uint64_t index) {
  Dice dice(seed, index);
  WorthwhileDot dot{.aim = static_cast<Aim>(index % aims), .a = {}, .b = {}, .start = 0};
  const std::size_t large = dice.below(k);
  const int depth = depth_of(index);
  for (std::size_t i = 0; i < k; ++i) {
    const Exponents exponents = exponents_of(dot.aim, dice, a_format, b_format, i == large, depth);
    dot.a.push_back(finite_near(dice, a_format, exponents.a, exponents.spread));
    dot.b.push_back(finite_near(dice, b_format, exponents.b, exponents.spread));
  }
  if (dot.aim == Aim::alignment && index / aims % 2 == 1 && (large ^ 1) < k) {
    // The large product cancels, and what it cost the small ones is all that is left.
    dot.a[large ^ 1] = static_cast<std::uint8_t>(dot.a[large] ^ a_format.sign_bit());
    dot.b[large ^ 1] = dot.b[large];
  }
  if (dot.aim == Aim::cancellation) {
    // The second half is the first with its sign changed, but for one in four.
    for (std::size_t i = 0; i + k / 2 < k; ++i) {
      if (dice.below(4) == 0) continue;
      dot.a[i + k / 2] = static_cast<std::uint8_t>(dot.a[i] ^ a_format.sign_bit());
      dot.b[i + k / 2] = dot.b[i];
    }
  }
  dot.start = start_of(dot.aim, dice, a_format.max_exponent() + b_format.max_exponent() - 2, depth);
  return dot;
}

}  // namespace mantissa::silicon
