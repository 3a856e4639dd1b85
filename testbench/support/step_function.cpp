#include "testbench/support/step_function.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "testbench/support/mpfr_oracle.hpp"

namespace mantissa::test {
namespace {

constexpr std::uint32_t fp32_inf = 0x7F800000;
constexpr std::uint32_t fp32_quiet_nan = 0x7FC00000;
constexpr std::uint32_t fp32_sign = 0x80000000;

// The pattern of the smallest FP32 number not below a positive bound, or above it if `strictly`.
std::uint32_t first_pattern(const Real& bound, bool strictly) {
  const float up = mpfr_get_flt(bound.mpfr(), MPFR_RNDU);
  const auto bits = std::bit_cast<std::uint32_t>(up);
  return strictly && Real(static_cast<double>(up)) == bound ? bits + 1 : bits;
}

// Where the result becomes magnitude code `code` or more; `code` may be one above the largest finite code.
std::uint32_t start_of(std::uint32_t code, const Format& to, Rounding rounding) {
  const Real upper = oracle::unbounded_value(code, to);
  if (rounding.mode == Rounding::Mode::rtz) return first_pattern(upper, false);
  const Real middle = (oracle::unbounded_value(code - 1, to) + upper).scaled(-1);
  if (rounding.mode == Rounding::Mode::rna) return first_pattern(middle, false);
  if (rounding.mode == Rounding::Mode::rnz) return first_pattern(middle, true);
  // The tie goes to the even number of units: down if the lower code is even. Without mantissa bits every
  // normal number is one unit, which is odd.
  const std::uint32_t below = code - 1;
  const bool below_is_even = to.mantissa_bits == 0 ? below == 0 : below % 2 == 0;
  return first_pattern(middle, below_is_even);
}

// From here on a result is not tiny: with an unbounded exponent it would round to the smallest normal number.
std::uint32_t end_of_tiny(const Format& to, Rounding rounding) {
  const int exponent = 1 - to.bias;
  const Real smallest_normal = Real::integer(false, 1, exponent);
  if (rounding.mode == Rounding::Mode::rtz) return first_pattern(smallest_normal, false);
  // The number below it with all ones is odd, so the tie goes up unless all ties go down.
  const Real half_unit = Real::integer(false, 1, exponent - 2 - to.mantissa_bits);
  return first_pattern(smallest_normal - half_unit, rounding.mode == Rounding::Mode::rnz);
}

}  // namespace

StepFunction::StepFunction(const Format& to, Rounding rounding, Overflow overflow) {
  if (rounding.stochastic()) throw std::invalid_argument("a step function needs a rounding without draws");
  const std::uint32_t max = oracle::max_code(to);
  const std::uint32_t tiny_end = end_of_tiny(to, rounding);
  for (const std::uint32_t sign : {0U, fp32_sign}) {
    // Only specials and signs are asked of the oracle here; the finite steps come from the boundaries above.
    const auto convert = [&](std::uint32_t bits) {
      return oracle::convert(bits | sign, {.to = to, .rounding = rounding, .overflow = overflow});
    };
    const auto append = [&](std::uint32_t first, std::uint32_t code, Flags flags) {
      segments_.push_back({first | sign, {code, flags}});
    };
    const std::uint32_t negative = sign != 0 ? 1U << (to.exponent_bits + to.mantissa_bits) : 0U;
    std::uint32_t start = 0;
    for (std::uint32_t code = 0; code <= max; ++code) {
      const std::uint32_t end = start_of(code + 1, to, rounding);
      const std::uint32_t exact = first_pattern(oracle::unbounded_value(code, to), false);
      const bool keeps_sign = code != 0 || to.specials != Specials::fnuz;
      const std::uint32_t signed_code = code | (keeps_sign ? negative : 0U);
      const auto inexact_part = [&](std::uint32_t from, std::uint32_t until) {
        const std::uint32_t split = std::clamp(tiny_end, from, until);
        if (from < split) append(from, signed_code, {.underflow = true, .inexact = true});
        if (split < until) append(split, signed_code, {.inexact = true});
      };
      inexact_part(start, exact);
      append(exact, signed_code, {});
      inexact_part(exact + 1, end);
      start = end;
    }
    const bool stops_at_max = overflow == Overflow::saturate || rounding.mode == Rounding::Mode::rtz;
    const std::uint32_t beyond =
        stops_at_max || to.specials == Specials::finite ? max | negative : convert(fp32_inf).code;
    if (start < fp32_inf) append(start, beyond, {.overflow = true, .inexact = true});
    for (const std::uint32_t special : {fp32_inf, fp32_inf + 1, fp32_quiet_nan})
      segments_.push_back({special | sign, convert(special)});
  }
}

std::size_t StepFunction::index_of(std::uint32_t fp32_bits) const {
  const auto above = std::upper_bound(segments_.begin(), segments_.end(), fp32_bits,
                                      [](std::uint32_t bits, const Segment& s) { return bits < s.first; });
  return above - segments_.begin() - 1;
}

Rounded StepFunction::at(std::uint32_t fp32_bits) const { return segments_[index_of(fp32_bits)].result; }

StepFunction::Walk::Walk(const StepFunction& steps, std::uint32_t start)
    : steps_(steps.segments_), index_(steps.index_of(start)), next_(end_of(index_)) {}

void StepFunction::Walk::advance() { next_ = end_of(++index_); }

std::uint64_t StepFunction::Walk::end_of(std::size_t index) const {
  return index + 1 < steps_.size() ? steps_[index + 1].first : std::uint64_t{1} << 32;
}

}  // namespace mantissa::test
