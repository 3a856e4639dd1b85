#include "models/mac/wide_sum.hpp"

#include <bit>

namespace mantissa {

void WideSum::add(const Exact& value) {
  if (value.is_zero()) return;
  // Drop the significand's trailing zeros first, so that its lowest bit has a place in the register.
  const int trailing = std::countr_zero(value.significand);
  const std::uint64_t integer = value.significand >> trailing;
  const int position = value.exponent - 63 + trailing - lowest_bit;
  const int first = position / 64;
  const int shift = position % 64;
  std::array<std::uint64_t, 5> addend{};
  addend[first] = integer << shift;
  if (shift != 0 && first + 1 < 5) addend[first + 1] = integer >> (64 - shift);

  // Negative addends enter as their two's complement: all limbs inverted, and a carry in.
  std::uint64_t carry = value.negative ? 1 : 0;
  for (std::size_t i = 0; i < limb_.size(); ++i) {
    const std::uint64_t term = value.negative ? ~addend[i] : addend[i];
    const unsigned __int128 total = static_cast<unsigned __int128>(limb_[i]) + term + carry;
    limb_[i] = static_cast<std::uint64_t>(total);
    carry = static_cast<std::uint64_t>(total >> 64);
  }
}

Exact WideSum::value() const {
  std::array<std::uint64_t, 5> magnitude = limb_;
  const bool negative = (limb_.back() >> 63) != 0;
  if (negative) {
    std::uint64_t carry = 1;
    for (std::uint64_t& limb : magnitude) {
      limb = ~limb + carry;
      carry = carry != 0 && limb == 0 ? 1 : 0;
    }
  }
  int top = 4;
  while (top >= 0 && magnitude[top] == 0) --top;
  if (top < 0) return Exact::zero(false);
  const int lead = std::countl_zero(magnitude[top]);
  std::uint64_t significand = magnitude[top] << lead;
  bool sticky = false;
  if (top > 0) {
    if (lead != 0) significand |= magnitude[top - 1] >> (64 - lead);
    sticky = lead == 0 ? magnitude[top - 1] != 0 : (magnitude[top - 1] << lead) != 0;
    for (int i = 0; i + 1 < top; ++i) sticky |= magnitude[i] != 0;
  }
  Exact result = Exact::integer(negative, significand, 64 * top - lead + lowest_bit);
  result.significand |= sticky ? 1U : 0U;
  return result;
}

}  // namespace mantissa
