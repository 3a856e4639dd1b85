// range_bn_forward: whole channels, their statistics alone, and normalisation with statistics that are given.

#include <algorithm>
#include <cmath>

#include "models/format/convert.hpp"
#include "models/format/named.hpp"
#include "models/norm/range_bn.hpp"
#include "sim/units/range_bn_codes.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/range_bn_channel.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class RangeBnForwardReference : public StreamReference {
 public:
  explicit RangeBnForwardReference(const UnitParameters& parameters)
      : index_bits_(parameters.at("IndexBits")) {
    // The only NaN that an operation gives is positive.
    coverage_.exclude("y -nan", "NaN results are canonical");
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"channel of " + std::to_string(cause[2].value()) + " elements in chunks of " +
            std::to_string(cause[3].value()) + ", mode " + std::to_string(cause[1].value())};
  }

 private:
  // What a unit is told about a channel, besides x.
  struct Registers {
    BnMode mode = BnMode::both;
    RangeBnRegisters registers;
    float gamma = 0.0F;
    float beta = 0.0F;
    float mean = 0.0F;
    float inv = 0.0F;
  };

  Transaction inputs(const RangeBnChannel& channel, std::size_t i, const Registers& given) const {
    return {fp32_port(channel.x[i]),
            Bits(2, static_cast<std::uint64_t>(given.mode)),
            Bits(index_bits_, channel.x.size()),
            Bits(index_bits_, static_cast<std::uint64_t>(given.registers.chunk_length)),
            fp32_port(given.registers.reciprocal_n),
            fp32_port(given.registers.reciprocal_chunks),
            fp32_port(given.registers.constant),
            fp32_port(given.gamma),
            fp32_port(given.beta),
            fp32_port(given.mean),
            fp32_port(given.inv)};
  }

  static Transaction result(BnKind kind, const Bits& first, const Bits& second, bool last) {
    return {Bits(2, static_cast<std::uint64_t>(kind)), first, second, Bits(1, last ? 1 : 0)};
  }

  // The corners, and half of the rest, go through both passes.
  static BnMode random_mode(std::uint64_t index, stimulus::Dice& dice) {
    if (index < 20 || index % 2 == 0) return BnMode::both;
    return static_cast<BnMode>(1 + dice.below(3));
  }

  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    const RangeBnChannel channel = range_bn_channel(index, (std::size_t{1} << index_bits_) - 1, dice);
    const auto n = static_cast<std::int64_t>(channel.x.size());
    Registers given{random_mode(index, dice),
                    RangeBnRegisters(n, channel.config),
                    channel.gamma,
                    channel.beta,
                    any_fp32(dice),
                    any_fp32(dice)};
    std::vector<float> y(channel.x.size());
    RangeBnSaved saved = range_bn_forward(channel.x, channel.gamma, channel.beta, channel.config, y);
    if (given.mode == BnMode::normalise) {
      // As the 8-bit mode has them: the channel's own mean, and an inv near its own.
      if (dice.below(4) != 0) {
        given.mean = saved.mean;
        given.inv = saved.inv * 1.0625F;
      }
      normalise(channel.x, given.mean, given.inv, channel.gamma, channel.beta, y);
    } else {
      scan(channel, given, saved);
    }
    for (std::size_t i = 0; given.mode != BnMode::statistics && i < y.size(); ++i) {
      y_.sample(fp32_bits(y[i]));
      add(inputs(channel, i, given), result(BnKind::element, fp32_port(y[i]), Bits(32), i + 1 == y.size()));
    }
    sample(channel, given, saved);
  }

  void scan(const RangeBnChannel& channel, const Registers& given, const RangeBnSaved& saved) {
    const auto chunk_length = static_cast<std::size_t>(given.registers.chunk_length);
    for (std::size_t i = 0; i < channel.x.size(); ++i) {
      std::vector<Transaction> answers;
      if ((i + 1) % chunk_length == 0) {
        const std::size_t chunk = i / chunk_length;
        answers.push_back(result(BnKind::indices, Bits(32, static_cast<std::uint64_t>(saved.argmax[chunk])),
                                 Bits(32, static_cast<std::uint64_t>(saved.argmin[chunk])), false));
      }
      if (i + 1 == channel.x.size()) {
        answers.push_back(result(BnKind::saved, fp32_port(saved.mean), fp32_port(saved.inv),
                                 given.mode == BnMode::statistics));
      }
      const std::size_t count = answers.size();
      add({inputs(channel, i, given), count,
           [answers = std::move(answers)](std::size_t answer) { return answers[answer]; }});
    }
  }

  void sample(const RangeBnChannel& channel, const Registers& given, const RangeBnSaved& saved) {
    for (const float x : channel.x) x_.sample(fp32_bits(x));
    gamma_.sample(fp32_bits(given.gamma));
    coverage_.hit(modes_[static_cast<int>(given.mode) - 1]);
    if (given.mode == BnMode::normalise) return;
    coverage_.hit(channel.config.chunks == 1 ? one_chunk_ : many_chunks_);
    coverage_.hit_if(saved.argmax[0] == saved.argmin[0], coincide_);
    coverage_.hit_if(std::isnan(channel.x[0]), nan_first_);
    coverage_.hit_if(has_nan(channel.x) && !std::isnan(channel.x[0]), nan_later_);
    const float highest = channel.x[static_cast<std::size_t>(saved.argmax[0])];
    const float lowest = channel.x[static_cast<std::size_t>(saved.argmin[0])];
    const auto chunk_end = channel.x.begin() + given.registers.chunk_length;
    coverage_.hit_if(std::count(channel.x.begin(), chunk_end, highest) > 1, equal_maxima_);
    coverage_.hit_if(std::count(channel.x.begin(), chunk_end, lowest) > 1, equal_minima_);
    coverage_.hit_if(std::isinf(saved.mean), mean_overflow_);
    coverage_.hit(std::isnan(saved.inv) ? inv_nan_ : saved.inv == 0.0F ? inv_zero_ : inv_positive_);
  }

  int index_bits_;
  OperandBins x_{coverage_, "x", formats::fp32};
  OperandBins gamma_{coverage_, "gamma", formats::fp32};
  OperandBins y_{coverage_, "y", formats::fp32};
  std::vector<int> modes_ = {coverage_.declare("mode: statistics"), coverage_.declare("mode: normalise"),
                             coverage_.declare("mode: both")};
  int one_chunk_ = coverage_.declare("one chunk");
  int many_chunks_ = coverage_.declare("several chunks");
  int coincide_ = coverage_.declare("argmax is argmin");
  int nan_first_ = coverage_.declare("NaN first in the channel");
  int nan_later_ = coverage_.declare("NaN later in the channel");
  int equal_maxima_ = coverage_.declare("maximum more than once in a chunk");
  int equal_minima_ = coverage_.declare("minimum more than once in a chunk");
  int mean_overflow_ = coverage_.declare("mean is infinite");
  int inv_positive_ = coverage_.declare("inv positive");
  int inv_zero_ = coverage_.declare("inv zero");
  int inv_nan_ = coverage_.declare("inv NaN");
};

}  // namespace

UnitKind range_bn_forward_kind() {
  return {
      .name = "range_bn_forward",
      .module = "range_bn_forward",
      .what = "Range batch normalisation of a channel in two passes, FP32",
      .section = "8",
      .latency = "3; one element per cycle, 34 cycles between the passes",
      .parameters = {{"IndexBits", 20, "bits of a channel's length, up to 32"}},
      .ports = {{"x_i", "32", "element, FP32; the channel comes twice in mode 3"},
                {"mode_i", "2", "1 statistics only, 2 normalise with mean_i and inv_i (0 too), 3 both"},
                {"count_i", "IndexBits", "n, elements of the channel; this and all below with each of them"},
                {"chunk_length_i", "IndexBits", "n/k"},
                {"reciprocal_count_i", "32", "fp32(1/n)"},
                {"reciprocal_chunks_i", "32", "fp32(1/k)"},
                {"constant_i", "32", "fp32(C)"},
                {"gamma_i", "32", "FP32"},
                {"beta_i", "32", "FP32"},
                {"mean_i", "32", "FP32; counts in mode 2"},
                {"inv_i", "32", "FP32; counts in mode 2"},
                {"kind_o", "2", "0 element, 1 indices of a chunk, 2 statistics"},
                {"first_o", "32", "y, argmax or mean"},
                {"second_o", "32", "+0, argmin or inv"},
                {"last_o", "1", "the channel ends here"}},
      .configurations = {{"20-bit indices", {}}, {"10-bit indices", {{"IndexBits", 10}}}},
      .systemc = make_range_bn_forward,
      .reference = [](const UnitParameters& p) { return std::make_unique<RangeBnForwardReference>(p); },
      .exclusions = {{.instance = "u_div", .signal = "a_", .reason = "the dividend is always 1"},
                     {.instance = "u_div.u_round", .line = "else if (inf_i)", .reason = "s is at least eps"},
                     {.instance = "u_div.u_round",
                      .line = "else if (overflow)",
                      .reason = "1/s is below 2^17"},
                     {.instance = "range_bn_forward",
                      .line = "default: state_d = StScan",
                      .reason = "no such state is ever entered"}},
  };
}

}  // namespace mantissa::verify
