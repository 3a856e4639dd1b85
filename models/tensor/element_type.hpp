// What one element of a tensor is to the hardware: how wide it is, and what it is called.
#pragma once

#include <string>

#include "models/format/format.hpp"

namespace mantissa {

// A floating-point number of a format, or an unsigned integer between a tensor's minimum and maximum
// (ARITHMETIC.md 1, 5).
class ElementType {
 public:
  constexpr ElementType() = default;                                // FP32
  constexpr ElementType(const Format& format) : format_(format) {}  // NOLINT: a format is a type of elements
  static constexpr ElementType integer(int bits) {
    ElementType type;
    type.integer_bits_ = bits;
    return type;
  }

  constexpr bool is_integer() const { return integer_bits_ != 0; }
  constexpr bool is_fp32() const { return !is_integer() && format_ == formats::fp32; }
  // Codes that have to be decoded, and that a quantizer made.
  constexpr bool is_code() const { return !is_integer() && !is_fp32(); }
  // Of a floating-point number; of an integer it says nothing.
  constexpr const Format& format() const { return format_; }

  constexpr int bits() const { return is_integer() ? integer_bits_ : format_.bits(); }
  std::string name() const;        // "e5m2", "uint8": as energy tables call it
  std::string short_name() const;  // "e5m2", "u8": as reports do
  friend constexpr bool operator==(const ElementType&, const ElementType&) = default;

 private:
  Format format_ = formats::fp32;
  int integer_bits_ = 0;  // 0: a floating-point number
};

// The numbers code * 2^-scale of a format.
struct Grid {
  Format format = formats::fp32;
  int scale = 0;
  friend bool operator==(const Grid&, const Grid&) = default;
};

}  // namespace mantissa
