// The arithmetic law a second time, on MPFR numbers (ARITHMETIC.md 1, 2, 4): which code and which flags an
// operation must give. From models/ it takes plain data types only (Format's four fields, Rounding, Flags
// ...); decoding, rounding and encoding are its own.
#pragma once

#include <mpfr.h>

#include <array>
#include <cstdint>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa::test {

// An extended real number, exact: an operation that would have to round throws std::logic_error.
class Real {
 public:
  // Holds the exact a*b + c of FP32 numbers, which spans 2^-298 to 2^256.
  static constexpr mpfr_prec_t precision = 640;

  Real();  // NaN
  explicit Real(double value);
  Real(const Real& other);
  Real& operator=(const Real& other);
  ~Real() = default;

  static Real infinity(bool negative);
  static Real integer(bool negative, std::uint64_t magnitude, int scale);  // times 2^scale

  bool is_nan() const { return mpfr_nan_p(number_) != 0; }
  bool is_inf() const { return mpfr_inf_p(number_) != 0; }
  bool is_zero() const { return mpfr_zero_p(number_) != 0; }
  bool is_negative() const { return mpfr_signbit(number_) != 0; }
  // Of the leading one; finite non-zero values only.
  int exponent() const { return static_cast<int>(mpfr_get_exp(number_)) - 1; }
  Real magnitude() const;
  Real negated() const;
  Real floor() const;
  std::uint64_t whole() const { return mpfr_get_ui(number_, MPFR_RNDD); }  // floor, for 0 <= value < 2^64
  Real scaled(int exponent) const;                                         // times 2^exponent
  double to_double() const { return mpfr_get_d(number_, MPFR_RNDN); }
  mpfr_ptr mpfr() { return number_; }
  mpfr_srcptr mpfr() const { return number_; }

  friend Real operator+(const Real& a, const Real& b);
  friend Real operator-(const Real& a, const Real& b);
  friend Real operator*(const Real& a, const Real& b);
  // Truncated to `precision` bits. For operands of up to 24 bits that serves as exact: a quotient that does
  // not end within 48 bits never ends, and no run of zeros or ones in it is as long as the rest.
  friend Real operator/(const Real& a, const Real& b);
  friend bool operator==(const Real& a, const Real& b) { return mpfr_equal_p(a.number_, b.number_) != 0; }
  friend bool operator<(const Real& a, const Real& b) { return mpfr_less_p(a.number_, b.number_) != 0; }

 private:
  std::array<mp_limb_t, precision / 64> limbs_{};
  mpfr_t number_;
};

namespace oracle {

// The value of a code, from its fields; NaN for NaN codes, -0 keeps its sign.
Real value(std::uint32_t code, const Format& format);
bool is_signalling(std::uint32_t code, const Format& format);
// Value of a magnitude code read as if the exponent field had no special values and no upper bound.
Real unbounded_value(std::uint64_t magnitude_code, const Format& format);
std::uint32_t max_code(const Format& format);

Rounded round(const Real& exact, const Format& format, Rounding rounding, std::uint32_t draw,
              Overflow overflow, Flush flush = {});
Rounded convert(std::uint32_t code, const Conversion& how, std::uint32_t draw = 0);
Rounded add(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);
Rounded mul(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);
Rounded fma(Code a, Code b, Code c, const ResultSpec& spec, std::uint32_t draw = 0);  // the next two in one
Rounded div(Code a, Code b, const ResultSpec& spec, std::uint32_t draw = 0);

// An exact product, for when many sums share it.
struct Product {
  Real value;
  bool invalid = false;
};
Product product(Code a, Code b, const ResultSpec& spec = {});
Rounded accumulate(const Product& product, Code acc, const ResultSpec& spec, std::uint32_t draw = 0);

}  // namespace oracle
}  // namespace mantissa::test
