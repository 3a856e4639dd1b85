#include "testbench/support/mpfr_oracle.hpp"

#include <stdexcept>

namespace mantissa::test {
namespace {

void require_exact(int ternary) {
  if (ternary != 0) throw std::logic_error("MPFR oracle: the value needs more than Real::precision bits");
}

}  // namespace

Real::Real() {
  mpfr_custom_init(limbs_.data(), precision);
  mpfr_custom_init_set(number_, MPFR_NAN_KIND, 0, precision, limbs_.data());
}
Real::Real(double value) : Real() { require_exact(mpfr_set_d(number_, value, MPFR_RNDN)); }
Real::Real(const Real& other) : Real() { mpfr_set(number_, other.number_, MPFR_RNDN); }
Real& Real::operator=(const Real& other) {
  if (this != &other) mpfr_set(number_, other.number_, MPFR_RNDN);
  return *this;
}

Real Real::infinity(bool negative) {
  Real result;
  mpfr_set_inf(result.number_, negative ? -1 : 1);
  return result;
}
Real Real::integer(bool negative, std::uint64_t magnitude, int scale) {
  Real result;
  require_exact(mpfr_set_ui_2exp(result.number_, magnitude, scale, MPFR_RNDN));
  return negative ? result.negated() : result;
}
Real Real::magnitude() const {
  Real result;
  mpfr_abs(result.number_, number_, MPFR_RNDN);
  return result;
}
Real Real::negated() const {
  Real result;
  mpfr_neg(result.number_, number_, MPFR_RNDN);
  return result;
}
Real Real::floor() const {
  Real result;
  mpfr_floor(result.number_, number_);
  return result;
}
Real Real::scaled(int exponent) const {
  Real result;
  require_exact(mpfr_mul_2si(result.number_, number_, exponent, MPFR_RNDN));
  return result;
}

Real operator+(const Real& a, const Real& b) {
  Real result;
  require_exact(mpfr_add(result.number_, a.number_, b.number_, MPFR_RNDN));
  return result;
}
Real operator-(const Real& a, const Real& b) {
  Real result;
  require_exact(mpfr_sub(result.number_, a.number_, b.number_, MPFR_RNDN));
  return result;
}
Real operator*(const Real& a, const Real& b) {
  Real result;
  require_exact(mpfr_mul(result.number_, a.number_, b.number_, MPFR_RNDN));
  return result;
}
Real operator/(const Real& a, const Real& b) {
  Real result;
  mpfr_div(result.number_, a.number_, b.number_, MPFR_RNDZ);
  return result;
}

namespace oracle {
namespace {

// The special codes of a format, spelled out from the table of formats.
struct Layout {
  std::uint32_t sign;
  std::uint32_t all_ones;  // of the magnitude
  std::uint32_t max;       // largest finite magnitude
  std::uint32_t nan;
  std::uint32_t inf = 0;
  bool has_inf = false;
  bool has_nan = true;
  bool has_negative_zero = true;

  explicit Layout(const Format& format)
      : sign(1U << (format.exponent_bits + format.mantissa_bits)),
        all_ones(sign - 1),
        max(all_ones),
        nan(all_ones) {
    const std::uint32_t top_exponent = all_ones - ((1U << format.mantissa_bits) - 1);
    switch (format.specials) {
      case Specials::ieee:
        has_inf = format.mantissa_bits != 0;
        inf = top_exponent;
        nan = has_inf ? top_exponent + (1U << format.mantissa_bits) / 2 : top_exponent;
        max = top_exponent - 1;
        break;
      case Specials::fn:
        max = all_ones - 1;
        break;
      case Specials::finite:
        has_nan = false;
        break;
      case Specials::fnuz:
        nan = sign;
        has_negative_zero = false;
        break;
    }
  }

  bool is_nan(std::uint32_t code) const {
    if (!has_nan) return false;
    if (!has_negative_zero) return code == nan;
    return (code & all_ones) > (has_inf ? inf : max);
  }
  std::uint32_t with_sign(std::uint32_t magnitude, bool negative) const {
    const bool keeps_sign = magnitude != 0 || has_negative_zero;
    return negative && keeps_sign ? magnitude + sign : magnitude;
  }
};

// |x| in units of 2^unit, rounded to a whole number.
Real whole_units(const Real& magnitude, int unit, Rounding rounding, std::uint32_t draw, bool& inexact) {
  const Real units = magnitude.scaled(-unit);
  const Real below = units.floor();
  Real whole = below;
  const auto go_up_if = [&](bool up) {
    if (up) mpfr_add_ui(whole.mpfr(), below.mpfr(), 1, MPFR_RNDN);
  };
  switch (rounding.mode) {
    case Rounding::Mode::rne:
      mpfr_rint(whole.mpfr(), units.mpfr(), MPFR_RNDN);
      break;
    case Rounding::Mode::rtz:
      break;
    case Rounding::Mode::sr: {
      const std::uint64_t range = std::uint64_t{1} << rounding.random_bits;
      const std::uint64_t f = (units - below).scaled(rounding.random_bits).whole();
      go_up_if(f + draw % range >= range);
      break;
    }
    // MPFR has no mode for these two; distances are exact.
    case Rounding::Mode::rna:
      go_up_if(!(units - below < Real(0.5)));
      break;
    case Rounding::Mode::rnz:
      go_up_if(Real(0.5) < units - below);
      break;
  }
  inexact = !(whole == units);
  return whole;
}

// The magnitude code of a non-negative value that the format has: a subnormal is its number of units; a
// normal one has 2^Y units of its own binade more than its mantissa.
std::uint32_t encode(const Real& magnitude, const Format& format) {
  if (magnitude.is_zero()) return 0;
  const int lowest = 1 - format.bias;
  const int exponent = magnitude.exponent();
  const int unit = (exponent < lowest ? lowest : exponent) - format.mantissa_bits;
  const auto units = static_cast<std::uint32_t>(magnitude.scaled(-unit).whole());
  if (exponent < lowest) return units;
  const std::uint32_t mantissa = units - (1U << format.mantissa_bits);
  return (static_cast<std::uint32_t>(exponent + format.bias) << format.mantissa_bits) + mantissa;
}

std::uint32_t operand_code(Code code, const ResultSpec& spec) {
  const Layout layout(code.format);
  const bool tiny = (code.bits & layout.all_ones) >> code.format.mantissa_bits == 0;
  if (!spec.flush.input || !tiny || layout.is_nan(code.bits)) return code.bits;
  return layout.with_sign(0, (code.bits & layout.sign) != 0);
}

// An operand's value; signalling NaNs are noted in `invalid`.
Real operand(Code code, const ResultSpec& spec, bool& invalid) {
  const std::uint32_t bits = operand_code(code, spec);
  invalid |= is_signalling(bits, code.format);
  return value(bits, code.format);
}

// A NaN that came out of numbers is an invalid operation.
void note_new_nan(const Real& a, const Real& b, const Real& result, bool& invalid) {
  invalid |= result.is_nan() && !a.is_nan() && !b.is_nan();
}

Rounded finish(const Real& exact, const ResultSpec& spec, std::uint32_t draw, bool invalid) {
  Rounded result = round(exact, spec.format, spec.rounding, draw, spec.overflow, spec.flush);
  result.flags.invalid |= invalid;
  return result;
}

}  // namespace

std::uint32_t max_code(const Format& format) { return Layout(format).max; }

Real unbounded_value(std::uint64_t magnitude_code, const Format& format) {
  const auto field = static_cast<int>(magnitude_code >> format.mantissa_bits);
  std::uint64_t units = magnitude_code - (static_cast<std::uint64_t>(field) << format.mantissa_bits);
  if (field != 0) units += std::uint64_t{1} << format.mantissa_bits;
  return Real::integer(false, units, (field == 0 ? 1 : field) - format.bias - format.mantissa_bits);
}

Real value(std::uint32_t code, const Format& format) {
  const Layout layout(format);
  if (layout.is_nan(code)) return {};
  const bool negative = (code & layout.sign) != 0;
  if (layout.has_inf && (code & layout.all_ones) == layout.inf) return Real::infinity(negative);
  const Real magnitude = unbounded_value(code & layout.all_ones, format);
  return negative ? magnitude.negated() : magnitude;
}

bool is_signalling(std::uint32_t code, const Format& format) {
  // Only formats with a NaN space have quiet and signalling ones: the top mantissa bit tells.
  const Layout layout(format);
  const std::uint32_t quiet_bit = (1U << format.mantissa_bits) / 2;
  return layout.has_inf && layout.is_nan(code) && (code & quiet_bit) == 0;
}

Rounded round(const Real& exact, const Format& format, Rounding rounding, std::uint32_t draw,
              Overflow overflow, Flush flush) {
  const Layout layout(format);
  if (exact.is_nan()) {
    if (layout.has_nan) return {layout.nan, {}};
    return {layout.max, {.invalid = true}};
  }
  const bool negative = exact.is_negative();
  const std::uint32_t signed_max = layout.with_sign(layout.max, negative);
  const bool saturates = overflow == Overflow::saturate || !layout.has_nan;
  const std::uint32_t infinite = layout.has_inf ? layout.with_sign(layout.inf, negative) : layout.nan;
  if (exact.is_inf()) {
    const bool stays = layout.has_inf && !saturates;
    return {saturates ? signed_max : infinite, {.overflow = !stays, .inexact = !stays}};
  }
  if (exact.is_zero()) return {layout.with_sign(0, negative), {}};

  const Real magnitude = exact.magnitude();
  const int lowest = 1 - format.bias;
  const int own = magnitude.exponent();
  const int unit = (own < lowest ? lowest : own) - format.mantissa_bits;
  bool inexact = false;
  const Real rounded = whole_units(magnitude, unit, rounding, draw, inexact).scaled(unit);
  const int top = static_cast<int>(layout.max >> format.mantissa_bits) - format.bias;
  if (!rounded.is_zero() && rounded.exponent() >= top && unbounded_value(layout.max, format) < rounded) {
    const bool stops_at_max = saturates || rounding.mode == Rounding::Mode::rtz;
    return {stops_at_max ? signed_max : infinite, {.overflow = true, .inexact = true}};
  }
  bool tiny = false;
  if (inexact && own < lowest) {
    const int own_unit = own - format.mantissa_bits;
    bool ignored = false;
    const Real again = whole_units(magnitude, own_unit, rounding, draw, ignored).scaled(own_unit);
    tiny = again < Real::integer(false, 1, lowest);
  }
  if (flush.output && !rounded.is_zero() && rounded.exponent() < lowest) {
    return {layout.with_sign(0, negative), {.underflow = true, .inexact = true}};
  }
  return {layout.with_sign(encode(rounded, format), negative), {.underflow = tiny, .inexact = inexact}};
}

Rounded convert(std::uint32_t code, const Conversion& how, std::uint32_t draw) {
  bool invalid = false;
  Real exact = operand({code, how.from}, {.flush = how.flush}, invalid).scaled(how.scale);
  Flags half_flags;
  if (how.via_fp16) {
    const Format half{5, 10, 15, Specials::ieee};
    const Rounded first = round(exact, half, Rounding::rne(), 0, Overflow::ieee);
    half_flags = first.flags;
    exact = value(first.code, half);
  }
  Rounded result =
      finish(exact, {how.to, how.rounding, how.overflow, {.output = how.flush.output}}, draw, invalid);
  result.flags |= half_flags;
  return result;
}

Rounded add(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  bool invalid = false;
  const Real x = operand(a, spec, invalid);
  const Real y = operand(b, spec, invalid);
  const Real sum = x + y;
  note_new_nan(x, y, sum, invalid);
  return finish(sum, spec, draw, invalid);
}

Product product(Code a, Code b, const ResultSpec& spec) {
  Product result;
  const Real x = operand(a, spec, result.invalid);
  const Real y = operand(b, spec, result.invalid);
  result.value = x * y;
  note_new_nan(x, y, result.value, result.invalid);
  return result;
}

Rounded accumulate(const Product& product, Code acc, const ResultSpec& spec, std::uint32_t draw) {
  bool invalid = product.invalid;
  const Real addend = operand(acc, spec, invalid);
  const Real sum = product.value + addend;
  note_new_nan(product.value, addend, sum, invalid);
  return finish(sum, spec, draw, invalid);
}

Rounded mul(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  const Product exact = product(a, b, spec);
  return finish(exact.value, spec, draw, exact.invalid);
}

Rounded fma(Code a, Code b, Code c, const ResultSpec& spec, std::uint32_t draw) {
  return accumulate(product(a, b, spec), c, spec, draw);
}

Rounded div(Code a, Code b, const ResultSpec& spec, std::uint32_t draw) {
  bool invalid = false;
  const Real x = operand(a, spec, invalid);
  const Real y = operand(b, spec, invalid);
  const Real quotient = x / y;
  note_new_nan(x, y, quotient, invalid);
  Rounded result = finish(quotient, spec, draw, invalid);
  const bool finite_dividend = !x.is_nan() && !x.is_inf() && !x.is_zero();
  result.flags.divide_by_zero = finite_dividend && y.is_zero();
  return result;
}

}  // namespace oracle
}  // namespace mantissa::test
