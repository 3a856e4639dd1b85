// Test vectors of the method units: stochastic_pruner, gemmlowp_quantizer, double_sampler, weight_update.
#include <cmath>
#include <stdexcept>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/sampling/double_sampler.hpp"
#include "models/sparsity/pruner.hpp"
#include "models/update/weight_update.hpp"
#include "sim/stimulus/vector_unit.hpp"

namespace mantissa::stimulus {
namespace {

using In = std::span<const std::uint32_t>;
using Out = std::vector<std::uint32_t>;

constexpr Format fp32 = formats::fp32;

Rounding stochastic_parameter(const Parameters& parameters) {
  const Rounding rounding = Rounding::parse(parameters.at("round"));
  if (!rounding.stochastic()) {
    throw std::invalid_argument("rounding " + rounding.name() +
                                " does not fit; this unit takes sr:r only, r 1..32");
  }
  return rounding;
}

// A magnitude with an exponent between the two given ones.
std::uint32_t random_positive(Dice& dice, int low_exponent, int high_exponent) {
  return random_code_near(dice, fp32, dice.between(low_exponent, high_exponent), 0) & ~fp32.sign_bit();
}

// The largest gradient that this draw still prunes or the smallest that it does not: (2^r - R) * tau / 2^r,
// one step up or not. Without it no random vector would meet an edge that is exact.
std::uint32_t edge_gradient(Dice& dice, const Pruner& pruner, const Exact& tau, std::uint32_t& draw) {
  // A draw of few bits makes the edge a number of the format.
  if (dice.below(2) == 0) draw &= ~0U << dice.below(static_cast<std::uint64_t>(pruner.random_bits));
  const std::uint64_t share = (std::uint64_t{1} << pruner.random_bits) - draw;
  Flags ignored;
  const Exact edge = multiply(Exact::integer(dice.below(2) != 0, share, -pruner.random_bits), tau, ignored);
  const Rounded below = round(edge, pruner.format, Rounding::rtz(), 0, Overflow::ieee);
  return (below.code + static_cast<std::uint32_t>(dice.below(2))) & pruner.format.code_mask();
}

VectorUnit stochastic_pruner_unit(const Parameters& parameters) {
  const Rounding random = stochastic_parameter(parameters);
  const Pruner pruner{.format = Format::parse(parameters.at("format")), .random_bits = random.random_bits};
  VectorUnit unit;
  unit.add_input(VectorField::code("g", pruner.format), many_corner_codes(pruner.format));
  unit.add_input(VectorField::code("tau", pruner.format), positive_corner_codes(pruner.format));
  unit.add_random_input(random);
  unit.outputs = {VectorField::code("result", pruner.format), {"nonzero", 1}, {"outcome", 2}};
  unit.randomise = [pruner](Dice& dice, std::span<std::uint32_t> in) {
    const Format& f = pruner.format;
    do {
      in[1] = random_code(dice, f) & f.magnitude_mask();
    } while (f.is_nan(in[1]) || f.is_inf(in[1]));
    const Exact tau = decode(in[1], f);
    in[2] = dice.bits(pruner.random_bits);
    if (!tau.is_finite() || dice.below(4) == 0) {
      in[0] = random_code(dice, f);
    } else if (dice.below(4) == 0) {
      in[0] = edge_gradient(dice, pruner, tau, in[2]);
    } else {  // within four binades of tau: there the draw decides
      in[0] = random_code_near(dice, f, tau.exponent - 2, 2);
    }
  };
  unit.golden = [pruner](In in) {
    Pruner with_tau = pruner;
    with_tau.tau = in[1];
    with_tau.check();
    const Pruned result = prune(in[0], with_tau, in[2]);
    return Out{result.code, result.nonzero() ? 1U : 0U, static_cast<std::uint32_t>(result.outcome)};
  };
  return unit;
}

VectorUnit gemmlowp_quantizer_unit(const Parameters& parameters) {
  const int bits = int_parameter(parameters, "bits");
  const Rounding rounding = Rounding::parse(parameters.at("round"));
  VectorUnit unit;
  unit.add_input(VectorField::code("x", fp32), many_corner_codes(fp32));
  std::vector<std::uint32_t> inverses;  // of the scale: a unit range, a wide one, the smallest scale
  for (const float range : {1.0F, 1e30F, 0.0F})
    inverses.push_back(fp32_bits(GemmlowpRange::between(0, range, bits).inv));
  inverses.push_back(fp32_bits(0.0F));  // a range that overflows: the scale is Inf
  unit.add_input(VectorField::code("min", fp32),
                 {fp32_bits(0.0F), fp32_bits(-0.5F), fp32_bits(-1e30F), fp32_bits(1.0F)});
  unit.add_input(VectorField::code("inv", fp32), inverses);
  unit.add_random_input(rounding);
  unit.outputs = {{"q", bits}, {"invalid", 1}};
  unit.randomise = [bits, rounding](Dice& dice, std::span<std::uint32_t> in) {
    if (rounding.stochastic()) in[3] = dice.bits(rounding.random_bits);
    if (dice.below(4) == 0) {  // steps of a power of two: half steps are exact, and often a tie
      const int step = dice.between(-20, 4);
      in[1] = fp32_bits(std::ldexp(static_cast<float>(dice.between(-100, 100)), step));
      in[2] = fp32_bits(std::ldexp(1.0F, -step));
      const int halves = dice.between(-4, (2 << bits) + 4);
      in[0] = fp32_bits(f32::fma(static_cast<float>(halves), std::ldexp(1.0F, step - 1), fp32_value(in[1])));
      return;
    }
    in[1] = random_code_near(dice, fp32, dice.between(-20, 20), 0);
    const float min = fp32_value(in[1]);
    const float width = fp32_value(random_positive(dice, -20, 20));
    in[2] = fp32_bits(GemmlowpRange::between(0, width, bits).inv);
    // Most values are min + a fraction of the range, some of them just outside.
    const float share = f32::div(static_cast<float>(dice.between(-20, 1044)), 1024.0F);
    const float x = f32::fma(width, share, min);
    in[0] = dice.below(8) == 0 ? random_code(dice, fp32) : fp32_bits(x) ^ dice.bits(4);
  };
  unit.golden = [bits, rounding](In in) {
    const GemmlowpRange range{.bits = bits, .min = fp32_value(in[1]), .inv = fp32_value(in[2])};
    const GemmlowpCode code =
        gemmlowp_quantize(fp32_value(in[0]), range, rounding, rounding.stochastic() ? in[3] : 0);
    return Out{code.q, code.invalid ? 1U : 0U};
  };
  return unit;
}

VectorUnit double_sampler_unit(const Parameters& parameters) {
  const int random_bits = stochastic_parameter(parameters).random_bits;
  VectorUnit unit;
  unit.add_input(VectorField::code("v", fp32), many_corner_codes(fp32));
  unit.add_input(VectorField::code("m", fp32),
                 {0, fp32_bits(1.0F), fp32_bits(3.0F), fp32_bits(1e-38F), fp32.max_code()});
  unit.add_input({"s", 8}, {1, 3, 255});
  unit.add_input({"r1", random_bits}, {0, random_corners(random_bits).back()});
  unit.add_input({"r2", random_bits}, {0, random_corners(random_bits).back()});
  unit.outputs = {{"sign", 1},
                  {"base", 8},
                  {"up1", 1},
                  {"up2", 1},
                  VectorField::code("q1", fp32),
                  VectorField::code("q2", fp32),
                  {"invalid", 1}};
  unit.randomise = [random_bits](Dice& dice, std::span<std::uint32_t> in) {
    in[1] = random_positive(dice, -20, 20);
    const int top = decode(in[1], fp32).exponent;
    in[0] = dice.below(8) == 0 ? random_code(dice, fp32) : random_code_near(dice, fp32, top - 4, 5);
    in[2] = static_cast<std::uint32_t>(dice.between(1, 255));
    in[3] = dice.bits(random_bits);
    in[4] = dice.bits(random_bits);
  };
  unit.golden = [random_bits](In in) {
    const DoubleSampler sampler(fp32_value(in[1]), static_cast<int>(in[2]), random_bits);
    const DoubleSample sample = sampler.sample(fp32_value(in[0]), in[3], in[4]);
    return Out{sample.negative ? 1U : 0U,
               sample.base,
               sample.up[0] ? 1U : 0U,
               sample.up[1] ? 1U : 0U,
               fp32_bits(sampler.value(sample, 0)),
               fp32_bits(sampler.value(sample, 1)),
               sample.invalid ? 1U : 0U};
  };
  return unit;
}

VectorUnit weight_update_unit(const Parameters& parameters) {
  WeightUpdateConfig config{.rounding = Rounding::parse(parameters.at("round"))};
  config.check();
  VectorUnit unit;
  unit.add_input(VectorField::code("w", formats::fp16), corner_codes(formats::fp16));
  const std::vector<std::uint32_t> steps = {0, 1, fp32_bits(1.0F), fp32.max_code() | fp32.sign_bit()};
  unit.add_input(VectorField::code("m", fp32), steps);
  // A step with a non-finite gradient is skipped as a whole: the unit never sees one.
  unit.add_input(VectorField::code("g", fp32), steps);
  unit.add_input(VectorField::code("lr", fp32), {fp32_bits(0.1F), fp32_bits(1.0F)});
  unit.add_input(VectorField::code("mu", fp32), {0, fp32_bits(0.9F)});
  unit.add_input(VectorField::code("wd", fp32), {0, fp32_bits(5e-4F)});
  unit.add_input({"k", 8}, {0, 10});
  unit.add_random_input(config.rounding);
  unit.outputs = {VectorField::code("w_next", formats::fp16),
                  VectorField::code("m_next", fp32),
                  {.name = "flags", .bits = 5, .note = "of the conversion to FP16 only"}};
  unit.randomise = [config](Dice& dice, std::span<std::uint32_t> in) {
    const int loss_scale = dice.between(-14, 24);
    in[0] = random_code(dice, formats::fp16);
    in[1] = random_code_near(dice, fp32, dice.between(-30, 5), 0);
    in[2] = random_code_near(dice, fp32, dice.between(-30, 5) + loss_scale, 0);
    in[3] = random_positive(dice, -12, 0);
    in[4] = dice.below(4) == 0 ? 0 : random_positive(dice, -3, -1);
    in[5] = dice.below(4) == 0 ? 0 : random_positive(dice, -16, -8);
    in[6] = static_cast<std::uint32_t>(loss_scale) & 0xFF;
    if (config.rounding.stochastic()) in[7] = dice.bits(config.rounding.random_bits);
  };
  unit.golden = [config](In in) {
    WeightUpdateConfig step = config;
    step.learning_rate = fp32_value(in[3]);
    step.momentum = fp32_value(in[4]);
    step.weight_decay = fp32_value(in[5]);
    step.unscale = UnscaleByExponent{signed_byte(in[6])};
    const UpdatedWeight next = update_weight(static_cast<std::uint16_t>(in[0]), fp32_value(in[1]),
                                             fp32_value(in[2]), step, step.rounding.stochastic() ? in[7] : 0);
    return Out{next.weight, fp32_bits(next.momentum), next.flags.bits()};
  };
  return unit;
}

}  // namespace

std::vector<UnitKind> method_units() {
  return {
      {"stochastic_pruner",
       "outcome: 0 zero in, 1 kept, 2 snapped to tau, 3 zero made",
       {{"format", "fp32"}, {"round", "sr:16"}},
       stochastic_pruner_unit},
      {"gemmlowp_quantizer",
       "FP32 to an unsigned integer; inv is fp32(1/scale)",
       {{"bits", "8"}, {"round", "rne"}},
       gemmlowp_quantizer_unit},
      {"double_sampler", "two samples of v on s steps up to m", {{"round", "sr:16"}}, double_sampler_unit},
      {"weight_update",
       "one step of FP16 master weights; loss scale 2^k, k signed",
       {{"round", "rne"}},
       weight_update_unit},
  };
}

}  // namespace mantissa::stimulus
