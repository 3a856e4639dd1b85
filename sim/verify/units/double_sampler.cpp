// double_sampler: values in and around [-M, M], of every kind, at scales from nothing to where s / M
// overflows.

#include "models/sampling/double_sampler.hpp"

#include <array>
#include <cmath>

#include "models/format/convert.hpp"
#include "sim/stimulus/vector_unit.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

constexpr Format fp32 = formats::fp32;

// Not a VectorReference: the ports have the registers in place of M, and both draws in one word.
class DoubleSamplerReference : public Reference {
 public:
  explicit DoubleSamplerReference(const UnitParameters& parameters)
      : random_bits_(parameters.at("RndBits")),
        vectors_(stimulus::find_vector_unit("double_sampler")
                     .build({{"round", Rounding::sr(random_bits_).name()}})) {
    for (int both = 0; both < 4; ++both) {
      ups_[both] = coverage_.declare(std::string("first ") + ((both & 1) != 0 ? "up" : "down") + ", second " +
                                     ((both & 2) != 0 ? "up" : "down"));
    }
  }

  Transaction stimulus(std::uint64_t index, stimulus::Dice& dice) override {
    std::vector<std::uint32_t> fields(vectors_.inputs.size());
    if (const auto corner = vectors_.corner_in_turn(index)) {
      fields = *corner;
    } else {
      vectors_.randomise(dice, fields);
      if (dice.below(32) == 0) fields[1] = any_scale(dice);
    }
    const DoubleSampler sampler(fp32_value(fields[1]), static_cast<int>(fields[2]), random_bits_);
    std::uint32_t inv = fp32_bits(sampler.levels_per_unit());
    if (dice.below(32) == 0) inv |= fp32.sign_bit();  // does not count
    const DoubleSampler same = DoubleSampler::from_registers(sampler.levels_per_unit(), 0, 1);
    // A quarter of the second draws stand where the sum just carries, or just does not.
    if (const std::uint64_t fraction = fraction_of(same.position(fp32_value(fields[0])));
        fraction != 0 && dice.below(4) == 0) {
      fields[4] = static_cast<std::uint32_t>((std::uint64_t{1} << random_bits_) - fraction - dice.below(2));
    }
    return {Bits(32, fields[0]), Bits(32, inv), Bits(8, fields[2]),
            Bits(2 * random_bits_, std::uint64_t{fields[4]} << random_bits_ | fields[3])};
  }

  void accept(const Transaction& inputs) override {
    const Sampling sampling = sample_of(inputs);
    const DoubleSample& sample = sampling.sample;
    sample_bins(inputs, sampling);
    expect({Bits(1, sample.negative ? 1 : 0), Bits(8, sample.base), Bits(2, ups_of(sample)),
            Bits(1, sample.invalid ? 1 : 0)},
           inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    const Sampling sampling = sample_of(cause);
    return {"v: " + described_value(cause[0], fp32),
            "s/M: " + described_value(cause[1], fp32),
            "s: " + described_value(cause[2], std::nullopt),
            "draws: " + Bits(random_bits_, sampling.draws[0]).hex() + ", " +
                Bits(random_bits_, sampling.draws[1]).hex(),
            "golden position: " + described_value(Bits(32, fp32_bits(sampling.position)), fp32),
            "golden base: " + std::to_string(sampling.sample.base)};
  }

 private:
  struct Sampling {
    std::array<std::uint32_t, 2> draws;
    float levels_per_unit;
    float position;
    DoubleSample sample;
  };

  Sampling sample_of(const Transaction& inputs) const {
    const float value = fp32_value(static_cast<std::uint32_t>(inputs[0].value()));
    Sampling sampling{};
    for (int i = 0; i < 2; ++i) {
      sampling.draws[i] = static_cast<std::uint32_t>(inputs[3].field(i * random_bits_, random_bits_));
    }
    sampling.levels_per_unit = std::fabs(fp32_value(static_cast<std::uint32_t>(inputs[1].value())));
    const auto sampler = DoubleSampler::from_registers(sampling.levels_per_unit, 0,
                                                       static_cast<int>(inputs[2].value()), random_bits_);
    sampling.position = sampler.position(value);
    sampling.sample = sampler.sample(value, sampling.draws[0], sampling.draws[1]);
    return sampling;
  }

  static std::uint64_t ups_of(const DoubleSample& sample) {
    return (sample.up[0] ? 1U : 0U) | (sample.up[1] ? 2U : 0U);
  }

  // F of a position (ARITHMETIC.md 2); 0 where there is none.
  std::uint64_t fraction_of(float position) const {
    const Exact exact = decode(fp32_bits(position), fp32);
    if (!exact.is_finite() || exact.exponent > 8) return 0;
    const std::uint64_t whole = round_to_multiple(exact, 0, Rounding::rtz(), 0).count;
    return round_to_multiple(exact, -random_bits_, Rounding::rtz(), 0).count - (whole << random_bits_);
  }

  void sample_bins(const Transaction& inputs, const Sampling& sampling) {
    const auto v = static_cast<std::uint32_t>(inputs[0].value());
    value_.sample(v);
    coverage_.hit_if(sampling.levels_per_unit == 0, no_scale_);
    coverage_.hit_if(sampling.levels_per_unit == 0 && fp32.is_inf(v), no_scale_inf_);
    coverage_.hit_if(std::isinf(sampling.levels_per_unit), overflown_);
    coverage_.hit_if(std::isinf(sampling.levels_per_unit) && fp32.is_zero(v), zero_times_inf_);
    if (sampling.levels_per_unit == 0 || std::isnan(sampling.position)) return;
    coverage_.hit(ups_[ups_of(sampling.sample)]);
    const auto top = static_cast<float>(inputs[2].value());
    const float floor = std::floor(sampling.position);
    coverage_.hit_if(std::isinf(sampling.position), infinite_);
    coverage_.hit_if(floor == sampling.position && floor > 0 && floor < top, exact_);
    coverage_.hit_if(floor == top - 1 && floor != sampling.position, below_top_);
    coverage_.hit_if(sampling.position == top, at_top_);
    coverage_.hit_if(sampling.position > top && !std::isinf(sampling.position), above_top_);
    if (sampling.position >= top) return;
    const std::uint64_t one = std::uint64_t{1} << random_bits_;
    for (const std::uint32_t draw : sampling.draws) {
      const std::uint64_t sum = fraction_of(sampling.position) + draw;
      coverage_.hit_if(sum == one, carry_);
      coverage_.hit_if(sum == one - 1, no_carry_);
    }
  }

  // M of any exponent, 0 and the smallest numbers among them.
  static std::uint32_t any_scale(stimulus::Dice& dice) {
    const std::uint32_t code = stimulus::random_code(dice, fp32) & fp32.magnitude_mask();
    return code <= fp32.max_code() ? code : 0;
  }

  int random_bits_;
  stimulus::VectorUnit vectors_;
  OperandBins value_{coverage_, "v", fp32};
  int no_scale_ = coverage_.declare("M = 0");
  int no_scale_inf_ = coverage_.declare("M = 0, v infinite");
  int overflown_ = coverage_.declare("s / M overflows");
  int zero_times_inf_ = coverage_.declare("s / M overflows, v = 0");
  int exact_ = coverage_.declare("on a level");
  int below_top_ = coverage_.declare("between the two highest levels");
  int at_top_ = coverage_.declare("on the highest level");
  int above_top_ = coverage_.declare("above the highest level");
  int infinite_ = coverage_.declare("position infinite");
  int carry_ = coverage_.declare("F + R = 2^r: up");
  int no_carry_ = coverage_.declare("F + R = 2^r - 1: not up");
  std::array<int, 4> ups_{};
};

}  // namespace

UnitKind double_sampler_kind() {
  return {
      .name = "double_sampler",
      .module = "double_sampler",
      .what = "two stochastic roundings of one value to s levels on each side of zero",
      .section = "10",
      .latency = "PipeStages",
      .parameters = {{"RndBits", 16, "random bits per sample, 1 to 32"},
                     {"PipeStages", 0,
                      "0 to 2 registers: after the product, after the conversion to fixed point"}},
      .ports = {{"v_i", "32", "FP32 value"},
                {"inv_i", "32", "register: fp32(s / M), 0 for M = 0; its sign does not count"},
                {"s_i", "8", "register: number of levels, 1 to 255"},
                {"rnd_i", "2*RndBits", "two draws, the first in the low half"},
                {"sign_o", "1", "sign of both samples"},
                {"base_o", "8", "the level below"},
                {"up_o", "2", "sample 0 and 1 take the level above"},
                {"invalid_o", "1", "the value is NaN; all other outputs are 0"}},
      .configurations = {{"sr:16", {}},
                         {"sr:8, 1 stage", {{"RndBits", 8}, {"PipeStages", 1}}},
                         {"sr:32, 2 stages", {{"RndBits", 32}, {"PipeStages", 2}}}},
      .systemc = make_double_sampler,
      .reference = [](const UnitParameters& p) { return std::make_unique<DoubleSamplerReference>(p); },
      .optional_outputs = {"invalid_o"},
  };
}

}  // namespace mantissa::verify
