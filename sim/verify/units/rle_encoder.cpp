// rle_encoder: tensors of every density, runs up to and beyond what an entry holds.

#include <algorithm>

#include "models/compress/run_length.hpp"
#include "models/format/named.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

constexpr std::uint32_t magnitude_bits = 0x7FFFFFFF;
constexpr std::uint32_t one = 0x3F800000;
constexpr std::uint32_t below_one = 0x3F7FFFFF;

class RleEncoderReference : public StreamReference {
 public:
  std::vector<std::string> explain(const Transaction& cause) const override {
    const bool survivor =
        survives(static_cast<std::uint32_t>(cause[0].value()), static_cast<std::uint32_t>(cause[1].value()));
    return {std::string("element ") + (survivor ? "survives" : "becomes zero") +
            (cause[2].value() != 0 ? ", last of its tensor" : "")};
  }

 private:
  struct Corner {
    std::size_t zeros;
    bool survivor;  // follows
    std::size_t more_zeros;
  };

  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    // Short ones, then around the longest run: 65535 zeros and a value, a full run, one more.
    static constexpr Corner corners[] = {{0, true, 0},      {1, false, 0},     {2, true, 3},
                                         {0, true, 1},      {65535, true, 0},  {65536, true, 0},
                                         {65536, false, 0}, {65535, false, 0}, {65537, true, 2}};
    if (index < std::size(corners)) {
      const Corner& corner = corners[index];
      std::vector<std::uint32_t> values(corner.zeros, below_one);
      if (corner.survivor) values.push_back(one | 0x80000000U);
      values.insert(values.end(), corner.more_zeros, 0);
      tensor(values, one);
      return;
    }
    const std::uint32_t threshold = stimulus::random_code(dice, formats::fp32);
    const bool longest = dice.below(2000) == 0;
    const std::uint64_t length =
        longest ? 65530 + dice.below(20) : 1 + dice.below(dice.below(8) == 0 ? 300 : 20);
    const std::uint64_t survivors = longest ? 0 : 1U << dice.below(9);  // of 256
    std::vector<std::uint32_t> values;
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(element(dice, threshold, survivors));
    tensor(values, threshold);
  }

  // Half of them anything, half at the threshold or next to it.
  static std::uint32_t element(stimulus::Dice& dice, std::uint32_t threshold, std::uint64_t survivors) {
    const std::uint32_t limit = threshold & magnitude_bits;
    const std::uint32_t any = stimulus::random_code(dice, formats::fp32);
    const std::uint32_t sign = any & ~magnitude_bits;
    const std::uint32_t magnitude = any & magnitude_bits;
    const bool near = dice.below(2) == 0;
    if (dice.below(256) < survivors) return near ? sign | limit : sign | std::max(magnitude, limit);
    if (limit == 0) return any;  // every element survives
    return near ? sign | (limit - 1) : sign | std::min(magnitude, limit - 1);
  }

  void tensor(const std::vector<std::uint32_t>& values, std::uint32_t threshold) {
    RunLengthEncoder encoder(threshold);
    thresholds_.sample(threshold);
    coverage_.hit_if(values.size() == 1, single_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool last = i + 1 == values.size();
      const std::optional<RunLengthEntry> entry = encoder.push(values[i]);
      sample(values[i], threshold, entry, last);
      const Transaction inputs{Bits(32, values[i]), Bits(32, threshold), Bits(1, last ? 1 : 0)};
      if (entry || last) {
        const RunLengthEntry shown = entry.value_or(RunLengthEntry{});
        add(inputs,
            {Bits(16, shown.run), Bits(32, shown.value), Bits(1, entry ? 1 : 0), Bits(1, last ? 1 : 0)});
      } else {
        add(inputs);
      }
    }
  }

  void sample(std::uint32_t value, std::uint32_t threshold, const std::optional<RunLengthEntry>& entry,
              bool last) {
    elements_.sample(value);
    const std::uint32_t magnitude = value & magnitude_bits;
    const std::uint32_t limit = threshold & magnitude_bits;
    coverage_.hit_if(magnitude == limit, at_threshold_);
    coverage_.hit_if(magnitude + 1 == limit, below_threshold_);
    if (!entry) {
      coverage_.hit(last ? end_without_entry_ : pending_);
      return;
    }
    const bool survivor = survives(value, threshold);
    coverage_.hit(!survivor                               ? filler_
                  : entry->run == 0                       ? run_none_
                  : entry->run == RunLengthEntry::max_run ? run_longest_
                                                          : run_);
    coverage_.hit_if(last, survivor ? end_with_survivor_ : end_with_filler_);
  }

  OperandBins elements_{coverage_, "value", formats::fp32};
  OperandBins thresholds_{coverage_, "threshold", formats::fp32};
  int at_threshold_ = coverage_.declare("element at the threshold");
  int below_threshold_ = coverage_.declare("element just below the threshold");
  int pending_ = coverage_.declare("element without an entry");
  int run_none_ = coverage_.declare("survivor after 0 zeros");
  int run_ = coverage_.declare("survivor after 1 to 65534 zeros");
  int run_longest_ = coverage_.declare("survivor after 65535 zeros");
  int filler_ = coverage_.declare("entry for 65536 zeros");
  int single_ = coverage_.declare("tensor of one element");
  int end_without_entry_ = coverage_.declare("end without an entry");
  int end_with_survivor_ = coverage_.declare("end with a survivor");
  int end_with_filler_ = coverage_.declare("end with an entry for 65536 zeros");
};

}  // namespace

UnitKind rle_encoder_kind() {
  return {
      .name = "rle_encoder",
      .module = "rle_encoder",
      .what = "run-length encoder of sparse gradients, at most one entry per element",
      .section = "9",
      .latency = "PipeStages",
      .parameters = {{"PipeStages", 1, "0 or 1 register behind the encoder"}},
      .ports = {{"value_i", "32", "element, FP32"},
                {"threshold_i", "32", "smallest magnitude that survives, FP32; the same for a whole tensor"},
                {"last_i", "1", "last element of its tensor"},
                {"run_o", "16", "zeros before the value"},
                {"value_o", "32", "the survivor, or +0 after 65535 zeros"},
                {"entry_o", "1",
                 "an entry; 0 only at the end of a tensor: run 0, value +0, no part of the message"},
                {"last_o", "1", "the tensor ends here"}},
      .configurations = {{"registered", {}}, {"combinational", {{"PipeStages", 0}}}},
      .systemc = make_rle_encoder,
      .reference = [](const UnitParameters&) { return std::make_unique<RleEncoderReference>(); },
      .default_transactions = 1000000,
  };
}

}  // namespace mantissa::verify
