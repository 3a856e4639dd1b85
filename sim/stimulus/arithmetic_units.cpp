// Test vectors of the arithmetic units: lfsr, fp8_mul, fp8_mac, fp32_*, quantizer.
#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/random/lfsr.hpp"
#include "sim/stimulus/vector_unit.hpp"

namespace mantissa::stimulus {
namespace {

using In = std::span<const std::uint32_t>;
using Out = std::vector<std::uint32_t>;

Out outputs(const Rounded& result) { return {result.code, result.flags.bits()}; }

// The exact product of two codes: where an addend must be to matter.
Exact product(std::uint32_t a, const Format& a_format, std::uint32_t b, const Format& b_format) {
  Flags ignored;
  return multiply(decode(a, a_format), decode(b, b_format), ignored);
}

VectorUnit lfsr_unit(const Parameters& parameters) {
  const int leap = int_parameter(parameters, "leap");
  check_leap(leap);
  VectorUnit unit;
  std::vector<std::uint32_t> states = {0xFFFFFFFF, 0x55555555, 0xAAAAAAAA};
  for (std::uint32_t bit = 1; bit != 0; bit <<= 1) states.push_back(bit);
  unit.add_input({"state", 32}, states);
  unit.outputs = {{"next", 32}};
  // State 0 is not a state of the generator.
  unit.randomise = [](Dice& dice, std::span<std::uint32_t> in) {
    in[0] = dice.bits(32) | (1U << dice.below(32));
  };
  unit.golden = [leap](In in) { return Out{Lfsr(in[0], leap).draw()}; };
  return unit;
}

VectorUnit fp8_mul_unit(const Parameters& parameters) {
  const Format a = Format::parse(parameters.at("a"));
  const Format b = Format::parse(parameters.at("b"));
  check_exact_product(a, b);
  VectorUnit unit;
  unit.add_input(VectorField::code("a", a), many_corner_codes(a));
  unit.add_input(VectorField::code("b", b), many_corner_codes(b));
  unit.add_rounded_output(formats::fp32);
  unit.randomise = [a, b](Dice& dice, std::span<std::uint32_t> in) {
    in[0] = random_code(dice, a);
    in[1] = random_code(dice, b);
  };
  unit.golden = [a, b](In in) { return outputs(fp8_mul(in[0], a, in[1], b)); };
  return unit;
}

VectorUnit fp8_mac_unit(const Parameters& parameters) {
  const MacConfig config{.a = Format::parse(parameters.at("a")),
                         .b = Format::parse(parameters.at("b")),
                         .acc = Format::parse(parameters.at("acc")),
                         .rounding = Rounding::parse(parameters.at("round"))};
  check_exact_product(config.a, config.b);
  VectorUnit unit;
  unit.add_input(VectorField::code("a", config.a), corner_codes(config.a));
  unit.add_input(VectorField::code("b", config.b), corner_codes(config.b));
  unit.add_input(VectorField::code("acc", config.acc), corner_codes(config.acc));
  unit.add_random_input(config.rounding);
  unit.add_rounded_output(config.acc);
  unit.randomise = [config](Dice& dice, std::span<std::uint32_t> in) {
    in[0] = random_code(dice, config.a);
    in[1] = random_code(dice, config.b);
    in[2] = random_addend(dice, config.acc, product(in[0], config.a, in[1], config.b));
    if (config.rounding.stochastic()) in[3] = dice.bits(config.rounding.random_bits);
  };
  unit.golden = [config](In in) {
    return outputs(fp8_mac(in[0], in[1], in[2], config, config.rounding.stochastic() ? in[3] : 0));
  };
  return unit;
}

VectorUnit fp32_inputs(std::initializer_list<const char*> names) {
  VectorUnit unit;
  for (const char* name : names) {
    unit.add_input(VectorField::code(name, formats::fp32),
                   names.size() > 2 ? corner_codes(formats::fp32) : many_corner_codes(formats::fp32));
  }
  unit.add_rounded_output(formats::fp32);
  return unit;
}

VectorUnit fp32_add_unit(const Parameters&) {
  VectorUnit unit = fp32_inputs({"a", "b"});
  unit.randomise = [](Dice& dice, std::span<std::uint32_t> in) {
    in[0] = random_code(dice, formats::fp32);
    in[1] = random_addend(dice, formats::fp32, decode(in[0], formats::fp32));
  };
  unit.golden = [](In in) { return outputs(fp32_add(in[0], in[1])); };
  return unit;
}

// Half of the second operands bring the exponent of the result to where results are finite.
void randomise_factors(Dice& dice, std::span<std::uint32_t> in, int exponent_sign) {
  const Format& f = formats::fp32;
  in[0] = random_code(dice, f);
  const Exact a = decode(in[0], f);
  in[1] = a.is_finite() && dice.below(2) == 0 ? random_code_near(dice, f, exponent_sign * a.exponent, 150)
                                              : random_code(dice, f);
}

VectorUnit fp32_mul_unit(const Parameters&) {
  VectorUnit unit = fp32_inputs({"a", "b"});
  unit.randomise = [](Dice& dice, std::span<std::uint32_t> in) { randomise_factors(dice, in, -1); };
  unit.golden = [](In in) { return outputs(fp32_mul(in[0], in[1])); };
  return unit;
}

VectorUnit fp32_div_unit(const Parameters&) {
  VectorUnit unit = fp32_inputs({"a", "b"});
  unit.randomise = [](Dice& dice, std::span<std::uint32_t> in) { randomise_factors(dice, in, 1); };
  unit.golden = [](In in) { return outputs(fp32_div(in[0], in[1])); };
  return unit;
}

VectorUnit fp32_fma_unit(const Parameters&) {
  VectorUnit unit = fp32_inputs({"a", "b", "c"});
  unit.randomise = [](Dice& dice, std::span<std::uint32_t> in) {
    randomise_factors(dice, in, -1);
    in[2] = random_addend(dice, formats::fp32, product(in[0], formats::fp32, in[1], formats::fp32));
  };
  unit.golden = [](In in) { return outputs(fp32_fma(in[0], in[1], in[2])); };
  return unit;
}

VectorUnit quantizer_unit(const Parameters& parameters) {
  const Conversion how{.to = Format::parse(parameters.at("to")),
                       .rounding = Rounding::parse(parameters.at("round")),
                       .overflow = parse_overflow(parameters.at("overflow"))};
  VectorUnit unit;
  // FP32's own corners, and every corner of the target with its FP32 neighbours.
  std::vector<std::uint32_t> x = many_corner_codes(formats::fp32);
  for (const std::uint32_t code : many_corner_codes(how.to)) {
    const std::uint32_t wide = convert(code, {.from = how.to, .to = formats::fp32}).code;
    if (decode(wide, formats::fp32).is_finite()) x.insert(x.end(), {wide - 1, wide, wide + 1});
  }
  unit.add_input(VectorField::code("x", formats::fp32), x);
  unit.add_input({"scale", 8}, {0, 1, 0xFF, 0x7F, 0x80});
  unit.add_random_input(how.rounding);
  unit.add_rounded_output(how.to);
  unit.randomise = [how](Dice& dice, std::span<std::uint32_t> in) {
    const int scale = dice.below(4) == 0 ? dice.between(-128, 127) : dice.between(-8, 8);
    in[1] = static_cast<std::uint32_t>(scale) & 0xFF;
    // Half of the values land within the target's range, or just outside it.
    const int wanted = dice.between(how.to.min_quantum() - 2, how.to.max_exponent() + 2);
    in[0] = dice.below(2) == 0 ? random_code_near(dice, formats::fp32, wanted - scale, 0)
                               : random_code(dice, formats::fp32);
    if (how.rounding.stochastic()) in[2] = dice.bits(how.rounding.random_bits);
  };
  unit.golden = [how](In in) {
    Conversion scaled = how;
    scaled.scale = signed_byte(in[1]);
    return outputs(convert(in[0], scaled, how.rounding.stochastic() ? in[2] : 0));
  };
  return unit;
}

}  // namespace

std::vector<UnitKind> arithmetic_units() {
  return {
      {"lfsr", "the state after one draw", {{"leap", "16"}}, lfsr_unit},
      {"fp8_mul", "exact product as FP32", {{"a", "e5m2"}, {"b", "e5m2"}}, fp8_mul_unit},
      {"fp8_mac",
       "acc + a*b, one rounding",
       {{"a", "e5m2"}, {"b", "e5m2"}, {"acc", "fp32"}, {"round", "rne"}},
       fp8_mac_unit},
      {"fp32_add", "a + b", {}, fp32_add_unit},
      {"fp32_mul", "a * b", {}, fp32_mul_unit},
      {"fp32_fma", "a*b + c, one rounding", {}, fp32_fma_unit},
      {"fp32_div", "a / b", {}, fp32_div_unit},
      {"quantizer",
       "x * 2^scale from FP32 to a format; scale is signed",
       {{"to", "e5m2"}, {"round", "rne"}, {"overflow", "ieee"}},
       quantizer_unit},
  };
}

}  // namespace mantissa::stimulus
