// range_bn_backward: gradients of whole channels, with the statistics that the forward pass saved or others.

#include <algorithm>
#include <cmath>

#include "models/format/convert.hpp"
#include "models/format/named.hpp"
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

  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    const RangeBnChannel channel = range_bn_channel(index, (std::size_t{1} << index_bits_) - 1, dice);
    const std::size_t n = channel.x.size();
    const RangeBnRegisters registers(static_cast<std::int64_t>(n), channel.config);
    RangeBnSaved saved = range_bn_statistics(channel.x, registers);
    // The 8-bit mode rounds inv; anything at all may come in the rest.
    if (dice.below(3) == 0) saved.inv *= 1.0625F;
    if (dice.below(8) == 0) saved.inv = any_fp32(dice);
    if (dice.below(8) == 0) saved.mean = any_fp32(dice);
    std::vector<float> dx(n);
    const NormGradients gradients =
        range_bn_backward(channel.x, channel.g, channel.gamma, saved, channel.config, dx);

    const auto inputs = [&](std::size_t i) -> Transaction {
      const std::size_t chunk = i / static_cast<std::size_t>(registers.chunk_length);
      return {fp32_port(channel.x[i]),
              fp32_port(channel.g[i]),
              Bits(index_bits_, static_cast<std::uint64_t>(saved.argmax[chunk])),
              Bits(index_bits_, static_cast<std::uint64_t>(saved.argmin[chunk])),
              Bits(index_bits_, n),
              fp32_port(registers.reciprocal_n),
              fp32_port(registers.reciprocal_chunks),
              fp32_port(registers.constant),
              fp32_port(channel.gamma),
              fp32_port(saved.mean),
              fp32_port(saved.inv)};
    };
    for (std::size_t i = 0; i + 1 < n; ++i) add(inputs(i));
    add(inputs(n - 1), result(true, fp32_port(gradients.gamma), fp32_port(gradients.beta), false));
    for (std::size_t i = 0; i < n; ++i) add(inputs(i), result(false, fp32_port(dx[i]), Bits(32), i + 1 == n));
    sample(channel, saved, dx);
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
      .what = "gradients of Range batch normalisation of a channel in two passes, FP32",
      .section = "8",
      .latency = "5; one element per cycle, 8 cycles between the passes",
      .parameters = {{"IndexBits", 20, "bits of a channel's length, up to 32"}},
      .ports = {{"x_i", "32", "element, FP32; the channel comes twice"},
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
                {"gradients_o", "1", "the result is dgamma, dbeta; once, between the passes"},
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
