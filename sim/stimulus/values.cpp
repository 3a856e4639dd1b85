#include "sim/stimulus/values.hpp"

#include <algorithm>

namespace mantissa::stimulus {
namespace {

// Appends codes once each, with both signs where asked.
class CodeList {
 public:
  explicit CodeList(const Format& format) : format_(format) {}

  void one(std::uint32_t code) {
    if (std::find(codes_.begin(), codes_.end(), code) == codes_.end()) codes_.push_back(code);
  }
  void both_signs(std::uint32_t magnitude) {
    if (magnitude > format_.magnitude_mask()) return;
    one(magnitude);
    one(magnitude | format_.sign_bit());
  }
  std::vector<std::uint32_t> take() { return std::move(codes_); }

 private:
  Format format_;
  std::vector<std::uint32_t> codes_;
};

// Magnitude code of 1.0, or of the smallest normal in a format that has no 1.
std::uint32_t one_code(const Format& format) {
  const int field = std::clamp(format.bias, 1, static_cast<int>(format.max_code() >> format.mantissa_bits));
  return static_cast<std::uint32_t>(field) << format.mantissa_bits;
}

std::uint32_t random_mantissa(Dice& dice, const Format& format) {
  if (format.mantissa_bits == 0) return 0;
  const std::uint32_t uniform = dice.bits(format.mantissa_bits);
  const std::uint32_t one_bit = 1U << dice.below(static_cast<std::uint64_t>(format.mantissa_bits));
  switch (dice.below(4)) {
    case 0:
      return one_bit;
    case 1:
      return format.mantissa_mask() ^ one_bit;
    default:
      return uniform;
  }
}

std::uint32_t random_sign(Dice& dice, const Format& format) {
  return dice.below(2) != 0 ? format.sign_bit() : 0;
}

}  // namespace

std::vector<std::uint32_t> corner_codes(const Format& format) {
  CodeList list(format);
  const std::uint32_t smallest_normal = 1U << format.mantissa_bits;
  for (const std::uint32_t magnitude :
       {0U, 1U, smallest_normal - 1, smallest_normal, one_code(format), format.max_code()}) {
    list.both_signs(magnitude);
  }
  if (format.has_inf()) list.both_signs(format.inf_code());
  if (format.has_nan()) list.one(format.nan_code());
  if (format.has_inf() && format.mantissa_bits > 1) list.one(format.inf_code() + 1);
  return list.take();
}

std::vector<std::uint32_t> many_corner_codes(const Format& format) {
  CodeList list(format);
  for (const std::uint32_t code : corner_codes(format)) list.one(code);
  const std::uint32_t smallest_normal = 1U << format.mantissa_bits;
  const std::uint32_t one = one_code(format);
  for (const std::uint32_t magnitude : {smallest_normal + 1, one - 1, one + 1, one + smallest_normal / 2,
                                        one + smallest_normal - 1, format.max_code() - 1}) {
    list.both_signs(magnitude);
  }
  if (format.has_nan()) list.one(format.nan_code() | format.sign_bit());
  return list.take();
}

std::vector<std::uint32_t> positive_corner_codes(const Format& format) {
  std::vector<std::uint32_t> codes = corner_codes(format);
  std::erase_if(codes, [&](std::uint32_t code) {
    return format.is_nan(code) || format.is_inf(code) || format.is_negative(code);
  });
  return codes;
}

std::vector<std::uint32_t> random_corners(int random_bits) {
  const std::uint32_t half = 1U << (random_bits - 1);
  return {0, half, half | (half - 1)};
}

std::uint32_t random_code(Dice& dice, const Format& format) {
  if (dice.below(16) == 0) {
    const std::vector<std::uint32_t> corners = many_corner_codes(format);
    return corners[dice.below(corners.size())];
  }
  const std::uint32_t field = dice.bits(format.exponent_bits);
  return random_sign(dice, format) | (field << format.mantissa_bits) | random_mantissa(dice, format);
}

std::uint32_t random_code_near(Dice& dice, const Format& format, int exponent, int spread) {
  const int top = static_cast<int>(format.max_code() >> format.mantissa_bits);
  const int field = std::clamp(exponent + format.bias + dice.between(-spread, spread), 0, top);
  const std::uint32_t magnitude =
      (static_cast<std::uint32_t>(field) << format.mantissa_bits) | random_mantissa(dice, format);
  return random_sign(dice, format) | std::min(magnitude, format.max_code());
}

std::uint32_t random_addend(Dice& dice, const Format& format, const Exact& other) {
  if (!other.is_finite() || dice.below(2) == 0) return random_code(dice, format);
  return random_code_near(dice, format, other.exponent, format.precision() + 2);
}

}  // namespace mantissa::stimulus
