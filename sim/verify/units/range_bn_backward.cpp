// range_bn_backward: gradients of whole channels, with the statistics that the forward pass saved or others.

#include <algorithm>
#include <cmath>

#include "models/format/convert.hpp"
#include "models/format/named.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/norm/range_bn.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/range_bn_channel.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class RangeBnBackwardReference : public StreamReference {
 public:
  explicit RangeBnBackwardReference(const UnitParameters& parameters)
      : index_bits_(parameters.at("IndexBits")) {
    coverage_.exclude("dx -nan", "NaN results are canonical");
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"channel of " + std::to_string(cause[4].value()) + " elements, argmax " +
            std::to_string(cause[2].value()) + ", argmin " + std::to_string(cause[3].value())};
  }

 private:
  static Transaction result(bool gradients, const Bits& first, const Bits& second, bool last) {
    return {Bits(1, gradients ? 1 : 0), first, second, Bits(1, last ? 1 : 0)};
  }

  // What stands beside an element.
  struct Registers {
    std::uint64_t argmax = 0;
    std::uint64_t argmin = 0;
    std::uint64_t count = 0;
    RangeBnRegisters registers;
    float gamma = 0.0F;
    float mean = 0.0F;
    float inv = 0.0F;
    bool given = false;
    RangeBnCorrection correction = {};
  };

  Transaction inputs(float x, float g, const Registers& beside) const {
    return {fp32_port(x),
            fp32_port(g),
            Bits(index_bits_, beside.argmax),
            Bits(index_bits_, beside.argmin),
            Bits(index_bits_, beside.count),
            fp32_port(beside.registers.reciprocal_n),
            fp32_port(beside.registers.reciprocal_chunks),
            fp32_port(beside.registers.constant),
            fp32_port(beside.gamma),
            fp32_port(beside.mean),
            fp32_port(beside.inv),
            Bits(1, beside.given ? 1 : 0),
            fp32_port(beside.correction.mean_h),
            fp32_port(beside.correction.t)};
  }

  // The second pass, at an element with this index.
  static float dx_of(float g, std::uint64_t index, const Registers& beside) {
    const float dx = range_bn_input_gradient(g, beside.gamma, beside.inv, beside.correction);
    if (beside.argmax == beside.argmin) return dx;
    if (index == beside.argmax) return f32::add(dx, beside.correction.t);
    return index == beside.argmin ? f32::sub(dx, beside.correction.t) : dx;
  }

  static RangeBnCorrection any_correction(stimulus::Dice& dice) { return {any_fp32(dice), any_fp32(dice)}; }

  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    const RangeBnChannel channel = range_bn_channel(index, (std::size_t{1} << index_bits_) - 1, dice);
    const std::size_t n = channel.x.size();
    const RangeBnRegisters registers(static_cast<std::int64_t>(n), channel.config);
    RangeBnSaved saved = range_bn_statistics(channel.x, registers);
    // The 8-bit mode rounds inv; anything at all may come in the rest.
    if (dice.below(3) == 0) saved.inv *= 1.0625F;
    if (dice.below(8) == 0) saved.inv = any_fp32(dice);
    if (dice.below(8) == 0) saved.mean = any_fp32(dice);
    Registers beside{.argmax = 0,
                     .argmin = 0,
                     .count = n,
                     .registers = registers,
                     .gamma = channel.gamma,
                     .mean = saved.mean,
                     .inv = saved.inv};
    // Of the corners, and of half of the rest, both passes.
    if (index >= 20 && dice.below(4) == 0) return make_elements(channel, beside, dice);
    beside.given = index >= 20 && dice.below(4) == 0;

    std::vector<float> dx(n);
    const NormGradients gradients =
        range_bn_backward(channel.x, channel.g, channel.gamma, saved, channel.config, dx);
    // mh and t of the channel itself, or others.
    const bool own = !beside.given || dice.below(2) == 0;
    const GradientSums sums = gradient_sums(channel.x, channel.g, channel.gamma, saved.mean, saved.inv);
    const RangeBnCorrection correction =
        own ? range_bn_correction(sums, saved.inv, registers) : any_correction(dice);
    // Where mh and t are not given the ports hold anything.
    beside.correction = beside.given ? correction : any_correction(dice);
    const auto at = [&](std::size_t i) {
      const std::size_t chunk = i / static_cast<std::size_t>(registers.chunk_length);
      beside.argmax = static_cast<std::uint64_t>(saved.argmax[chunk]);
      beside.argmin = static_cast<std::uint64_t>(saved.argmin[chunk]);
      return beside;
    };
    if (!beside.given) {
      for (std::size_t i = 0; i + 1 < n; ++i) add(inputs(channel.x[i], channel.g[i], at(i)));
      add(inputs(channel.x[n - 1], channel.g[n - 1], at(n - 1)),
          result(true, fp32_port(gradients.gamma), fp32_port(gradients.beta), false));
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!own) dx[i] = dx_of(channel.g[i], i, at(i));
      add(inputs(channel.x[i], channel.g[i], at(i)), result(false, fp32_port(dx[i]), Bits(32), i + 1 == n));
    }
    coverage_.hit(beside.given ? given_ : both_);
    sample(channel, saved, dx);
  }

  // Channels of one element, whose numbers are all their own.
  void make_elements(const RangeBnChannel& channel, Registers beside, stimulus::Dice& dice) {
    beside.given = true;
    beside.count = 1;
    const float gamma = beside.gamma;
    const float inv = beside.inv;
    for (std::size_t i = 0; i < channel.x.size(); ++i) {
      beside.argmax = dice.below(2);
      beside.argmin = dice.below(2);
      beside.gamma = dice.below(2) == 0 ? gamma : any_fp32(dice);
      beside.inv = dice.below(2) == 0 ? inv : any_fp32(dice);
      // Of the size of g, where t changes dx.
      beside.correction =
          dice.below(2) == 0 ? RangeBnCorrection{channel.x[i], channel.g[i / 2]} : any_correction(dice);
      const float dx = dx_of(channel.g[i], 0, beside);
      dx_.sample(fp32_bits(dx));
      add(inputs(channel.x[i], channel.g[i], beside), result(false, fp32_port(dx), Bits(32), true));
    }
    coverage_.hit(elements_);
  }

  void sample(const RangeBnChannel& channel, const RangeBnSaved& saved, const std::vector<float>& dx) {
    for (const float x : channel.x) x_.sample(fp32_bits(x));
    for (const float g : channel.g) g_.sample(fp32_bits(g));
    for (const float d : dx) dx_.sample(fp32_bits(d));
    coverage_.hit(channel.config.chunks == 1 ? one_chunk_ : many_chunks_);
    for (std::size_t chunk = 0; chunk < saved.argmax.size(); ++chunk)
      coverage_.hit(saved.argmax[chunk] == saved.argmin[chunk] ? coincide_ : apart_);
    coverage_.hit_if(has_nan(channel.x), nan_in_x_);
    coverage_.hit_if(has_nan(channel.g) && !has_nan(channel.x), nan_in_g_);
    coverage_.hit_if(std::isinf(saved.inv), inv_infinite_);
    coverage_.hit_if(saved.inv == 0.0F, inv_zero_);
    coverage_.hit_if(saved.inv < 0.0F, inv_negative_);
  }

  int index_bits_;
  OperandBins x_{coverage_, "x", formats::fp32};
  OperandBins g_{coverage_, "g", formats::fp32};
  OperandBins dx_{coverage_, "dx", formats::fp32};
  int both_ = coverage_.declare("both passes");
  int given_ = coverage_.declare("mh and t given");
  int elements_ = coverage_.declare("mh and t given for one element");
  int one_chunk_ = coverage_.declare("one chunk");
  int many_chunks_ = coverage_.declare("several chunks");
  int apart_ = coverage_.declare("argmax and argmin apart");
  int coincide_ = coverage_.declare("argmax is argmin");
  int nan_in_x_ = coverage_.declare("NaN in x");
  int nan_in_g_ = coverage_.declare("NaN in g only");
  int inv_infinite_ = coverage_.declare("inv infinite");
  int inv_zero_ = coverage_.declare("inv zero");
  int inv_negative_ = coverage_.declare("inv negative");
};

}  // namespace

UnitKind range_bn_backward_kind() {
  return {
      .name = "range_bn_backward",
      .module = "range_bn_backward",
      .what = "gradients of Range batch normalisation of a channel in two passes, or the second alone, FP32",
      .section = "8",
      .latency = "5; one element per cycle, 8 cycles between the passes",
      .parameters = {{"IndexBits", 20, "bits of a channel's length, up to 32"}},
      .ports = {{"x_i", "32", "element, FP32; the channel comes twice, with given_i once"},
                {"g_i", "32", "gradient of its y, FP32"},
                {"argmax_i", "IndexBits", "of the element's chunk; counts in pass 2"},
                {"argmin_i", "IndexBits", "of the element's chunk; counts in pass 2"},
                {"count_i", "IndexBits", "n, elements of the channel; this and all below with each of them"},
                {"reciprocal_count_i", "32", "fp32(1/n)"},
                {"reciprocal_chunks_i", "32", "fp32(1/k)"},
                {"constant_i", "32", "fp32(C)"},
                {"gamma_i", "32", "FP32"},
                {"mean_i", "32", "FP32"},
                {"inv_i", "32", "FP32"},
                {"given_i", "1", "pass 2 alone, with mean_h_i and shift_i"},
                {"mean_h_i", "32", "mh, FP32; counts with given_i"},
                {"shift_i", "32", "t, FP32; counts with given_i"},
                {"gradients_o", "1", "the result is dgamma, dbeta; once, between the two passes"},
                {"first_o", "32", "dx or dgamma"},
                {"second_o", "32", "+0 or dbeta"},
                {"last_o", "1", "the channel ends here"}},
      .configurations = {{"20-bit indices", {}}, {"10-bit indices", {{"IndexBits", 10}}}},
      .systemc = make_range_bn_backward,
      .reference = [](const UnitParameters& p) { return std::make_unique<RangeBnBackwardReference>(p); },
      .exclusions = {{.instance = "range_bn_backward",
                      .line = "default: state_d = StScan",
                      .reason = "no such state is ever entered"}},
  };
}

}  // namespace mantissa::verify
