#include "sim/verify/units/packed_stimulus.hpp"

#include <algorithm>

namespace mantissa::verify {

std::vector<std::uint8_t> packed_stimulus_line(std::uint64_t index, stimulus::Dice& dice,
                                               const PackedPorts& ports) {
  const auto lanes = static_cast<std::uint64_t>(ports.lanes);
  const int bits = ports.code.bits;
  const auto any = [&] { return static_cast<std::uint8_t>(dice.bits(bits)); };
  const auto nonzero = [&] {
    std::uint8_t code = any();
    while (ports.code.is_zero(code)) code = any();
    return code;
  };
  const auto sign = static_cast<std::uint8_t>(1U << (bits - 1));
  // Not a return of its own: to clang-tidy a count and a value look like two elements.
  const auto equal = [](std::uint64_t count, std::uint8_t code) {
    std::vector<std::uint8_t> codes(count, code);
    return codes;
  };
  switch (index) {
    case 0:
      return {nonzero()};
    case 1:
      return {0};
    case 2:  // every beat a word
      return equal(3 * lanes, nonzero());
    case 3:  // a word and one code at the end
      return equal(lanes + 1, nonzero());
    case 4:
      return equal(2 * lanes, sign);
    case 5:
      return equal(2 * lanes, 0);
    default:
      break;
  }
  const std::uint64_t beats = dice.below(8) == 0 ? 1 : 1 + dice.below(dice.below(4) == 0 ? 20 : 5);
  const std::uint64_t length = lanes * beats - (dice.below(2) == 0 ? 0 : dice.below(lanes));
  // One density for the line, or one for each beat, all and nothing among them.
  const bool alike = dice.below(2) == 0;
  std::uint64_t density = dice.below(17);
  std::vector<std::uint8_t> codes(length);
  for (std::uint64_t i = 0; i < length; ++i) {
    if (i % lanes == 0 && !alike) density = dice.below(17);
    const std::uint8_t zero = dice.below(2) == 0 ? 0 : sign;  // where 10..0 is one
    codes[i] = dice.below(16) < density ? nonzero() : ports.code.is_zero(zero) ? zero : std::uint8_t{0};
  }
  return codes;
}

std::vector<DenseBeat> beats_of(const std::vector<std::uint8_t>& codes, int lanes) {
  std::vector<DenseBeat> beats;
  for (std::size_t first = 0; first < codes.size(); first += lanes) {
    const std::size_t end = std::min(first + lanes, codes.size());
    const auto at = [&](std::size_t i) { return codes.begin() + static_cast<std::ptrdiff_t>(i); };
    beats.push_back({{at(first), at(end)}, end == codes.size()});
  }
  return beats;
}

Bits lanes_with_rest(stimulus::Dice& dice, const PackedPorts& ports, const std::vector<std::uint8_t>& codes) {
  Bits bits = random_bits(dice, ports.codes_width());
  bits.set_fields(0, ports.code.bits, codes);
  return bits;
}

Bits random_bits(stimulus::Dice& dice, int width) {
  Bits bits(width);
  for (int low = 0; low < width; low += 32) {
    const int field = std::min(32, width - low);
    bits.set_field(low, field, dice.bits(field));
  }
  return bits;
}

std::vector<ParameterNote> packed_parameters(const std::string& second) {
  return {{"Lanes", 16, "elements per beat and codes per word, 2 to 64"},
          {"Width", 8, "bits of a code, 2 to 8"},
          {"NegativeZero", 1, "1: the code 10..0 is -0, a zero; 0: it is none (fnuz, integers)"},
          {"PipeStages", 1, "0 to 2 registers: at the output, and " + second}};
}

}  // namespace mantissa::verify
