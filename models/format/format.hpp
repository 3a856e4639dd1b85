// A floating-point format as a value: sign, exponent bits, mantissa bits, bias, and which codes are special.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mantissa {

// Which codes are not numbers.
enum class Specials : std::uint8_t {
  ieee,    // top exponent: Inf and NaN (no mantissa bits: the top code is NaN, there is no Inf)
  fn,      // only the all-ones code is NaN, no Inf (OCP E4M3)
  finite,  // every code is a number (OCP FP6, FP4)
  fnuz,    // NaN is 10..0, no Inf, no negative zero
};
[[noreturn]] void refuse_specials(Specials unknown);  // std::invalid_argument

// Every format has 2..8 exponent bits and 0..23 mantissa bits, so a code fits 32 bits. Public members only:
// a Format is also a template argument (see named.hpp).
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  static constexpr int min_bias = -256;  // keeps every value of every format exact in a double
  static constexpr int max_bias = 512;

  friend constexpr bool operator==(const Format&, const Format&) = default;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr int precision() const { return mantissa_bits + 1; }
  constexpr int hex_digits() const { return (bits() + 3) / 4; }

  // Exponent of the smallest normal number; subnormals share it.
  constexpr int min_exponent() const { return 1 - bias; }
  // log2 of the spacing of subnormals.
  constexpr int min_quantum() const { return min_exponent() - mantissa_bits; }
  // Exponent of the largest finite number.
  constexpr int max_exponent() const {
    const int field = static_cast<int>(max_code() >> mantissa_bits);
    return (field == 0 ? 1 : field) - bias;
  }

  constexpr std::uint32_t sign_bit() const { return 1U << (exponent_bits + mantissa_bits); }
  constexpr std::uint32_t magnitude_mask() const { return sign_bit() - 1; }
  constexpr std::uint32_t code_mask() const { return magnitude_mask() | sign_bit(); }
  constexpr std::uint32_t mantissa_mask() const { return (1U << mantissa_bits) - 1; }

  constexpr bool has_inf() const { return specials == Specials::ieee && mantissa_bits > 0; }
  constexpr bool has_nan() const { return specials != Specials::finite; }
  constexpr bool has_negative_zero() const { return specials != Specials::fnuz; }

  // Magnitude code of +Inf; only where has_inf().
  constexpr std::uint32_t inf_code() const { return ((1U << exponent_bits) - 1) << mantissa_bits; }
  // Magnitude code of the largest finite number.
  constexpr std::uint32_t max_code() const {
    switch (specials) {
      case Specials::ieee:
        return inf_code() - 1;
      case Specials::fn:
        return magnitude_mask() - 1;
      case Specials::finite:
      case Specials::fnuz:
        return magnitude_mask();
    }
    refuse_specials(specials);
  }
  // The canonical NaN, sign 0; only where has_nan().
  constexpr std::uint32_t nan_code() const {
    switch (specials) {
      case Specials::ieee:
        return inf_code() | (mantissa_bits > 0 ? 1U << (mantissa_bits - 1) : 0U);
      case Specials::fnuz:
        return sign_bit();
      case Specials::fn:
      case Specials::finite:
        return magnitude_mask();
    }
    refuse_specials(specials);
  }

  constexpr bool is_nan(std::uint32_t code) const {
    switch (specials) {
      case Specials::ieee:
        return (code & magnitude_mask()) > max_code() + (has_inf() ? 1U : 0U);
      case Specials::fn:
        return (code & magnitude_mask()) == magnitude_mask();
      case Specials::fnuz:
        return (code & code_mask()) == sign_bit();
      case Specials::finite:
        return false;
    }
    refuse_specials(specials);
  }
  constexpr bool is_signalling(std::uint32_t code) const {
    return has_inf() && is_nan(code) && (code & (1U << (mantissa_bits - 1))) == 0;
  }
  constexpr bool is_inf(std::uint32_t code) const {
    return has_inf() && (code & magnitude_mask()) == inf_code();
  }
  constexpr bool is_zero(std::uint32_t code) const { return (code & magnitude_mask()) == 0 && !is_nan(code); }
  constexpr bool is_negative(std::uint32_t code) const { return (code & sign_bit()) != 0; }

  // "e5m2", "e4m3:ieee", "e4m3:bias=11", "fp16", any eXmY. Throws std::invalid_argument with what exists.
  static Format parse(std::string_view name);
  // A name that parses back to this format.
  std::string name() const;
};

namespace formats {
inline constexpr Format e5m2{5, 2, 15, Specials::ieee};
inline constexpr Format e4m3{4, 3, 7, Specials::fn};
inline constexpr Format e3m2{3, 2, 3, Specials::finite};
inline constexpr Format e2m3{2, 3, 1, Specials::finite};
inline constexpr Format e2m1{2, 1, 1, Specials::finite};
inline constexpr Format fp16{5, 10, 15, Specials::ieee};
inline constexpr Format bf16{8, 7, 127, Specials::ieee};
inline constexpr Format fp32{8, 23, 127, Specials::ieee};
}  // namespace formats

struct NamedFormat {
  std::string_view name;
  Format format;
};
inline constexpr NamedFormat named_formats[] = {
    {"e5m2", formats::e5m2}, {"e4m3", formats::e4m3}, {"e3m2", formats::e3m2}, {"e2m3", formats::e2m3},
    {"e2m1", formats::e2m1}, {"fp16", formats::fp16}, {"bf16", formats::bf16}, {"fp32", formats::fp32},
};

}  // namespace mantissa
