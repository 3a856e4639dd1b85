// rle_decoder: messages that fill their tensor, leave zeros at its end, or do not fit.

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "models/compress/run_length.hpp"
#include "models/format/convert.hpp"
#include "models/format/named.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class RleDecoderReference : public StreamReference {
 public:
  explicit RleDecoderReference(const UnitParameters& parameters)
      : length_bits_(parameters.at("LengthBits")) {}

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"run " + std::to_string(cause[0].value()) + " in a tensor of " +
            std::to_string(cause[3].value()) + (cause[2].value() != 0 ? ", last entry" : "")};
  }

 private:
  using Entries = std::vector<RunLengthEntry>;

  std::size_t max_length() const { return (std::size_t{1} << length_bits_) - 1; }

  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    constexpr std::uint32_t value = 0xC0490FDB;
    constexpr std::uint16_t longest = RunLengthEntry::max_run;
    switch (index) {
      case 0:
        return tensor({{2, 0x3FC00000}, {1, 0xC0000000}}, 6);
      case 1:
        return tensor({}, 1);
      case 2:
        return tensor({{0, value}}, 1);
      case 3:
        return tensor({{1, value}}, 1);
      case 4:
        return tensor({{0, value}, {0, value}}, 1);
      case 5:
        return tensor({{3, value}, {4, value}, {0, value}}, 8);
      case 6:
        return tensor({{longest, value}}, longest);  // one too long, in any width of the position
      case 7:
        return tensor({{longest - 1, 0}, {longest, value}}, 131071);
      case 300:
        return tensor({{longest, 0}, {longest, value}}, max_length());  // the longest tensor of all
      default:
        return random_tensor(dice);
    }
  }

  void random_tensor(stimulus::Dice& dice) {
    const bool large = dice.below(500) == 0;
    const std::uint64_t most = dice.below(4) == 0 ? 2 : 12;
    Entries entries(dice.below(large ? 3 : most));
    std::size_t covered = 0;
    for (RunLengthEntry& entry : entries) {
      entry.run = static_cast<std::uint16_t>(large ? dice.bits(16) : dice.below(2) * dice.below(12));
      entry.value = dice.below(2) == 0 ? corners_[dice.below(corners_.size())]
                                       : stimulus::random_code(dice, formats::fp32);
      covered += entry.run + 1;
    }
    // Full, with zeros behind, or too short by a little or by much.
    const std::uint64_t spare = dice.below(3) == 0 ? dice.below(40) : 0;
    const std::uint64_t missing = dice.below(3) == 0 ? 1 + dice.below(dice.below(2) == 0 ? 2 : 40) : 0;
    const std::size_t length = covered + spare;
    tensor(entries, std::clamp<std::size_t>(length > missing ? length - missing : 1, 1, max_length()));
  }

  // Elements that the golden decoder gives for these entries; none where it refuses them.
  static std::optional<std::vector<float>> decoded(std::span<const RunLengthEntry> entries,
                                                   std::size_t length) {
    std::vector<std::uint8_t> message;
    for (const RunLengthEntry& entry : entries) append_entry(message, entry);
    try {
      return run_length_decode(message, length);
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  }

  void tensor(Entries entries, std::size_t length) {
    const std::span<const RunLengthEntry> message = entries;
    // The first entry that the golden decoder refuses ends the tensor.
    std::size_t good = message.size();
    while (!decoded(message.first(good), length)) --good;
    const auto elements = std::make_shared<const std::vector<float>>(*decoded(message.first(good), length));
    const bool refused = good < message.size();
    coverage_.hit_if(message.empty(), empty_);
    if (message.empty()) entries.push_back({});  // how a message without entries is given

    std::size_t position = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const RunLengthEntry& entry = entries[i];
      const bool last = i + 1 == entries.size();
      values_.sample(entry.value);
      Transaction inputs{Bits(16, entry.run), Bits(32, entry.value), Bits(1, last ? 1 : 0),
                         Bits(length_bits_, length)};
      if (refused && i > good) {
        coverage_.hit(swallowed_);
        add(std::move(inputs));
      } else if (refused && i == good) {
        coverage_.hit(last ? refused_last_ : refused_before_);
        coverage_.hit(position == length ? refused_full_ : refused_run_);
        add(std::move(inputs), {Bits(32), Bits(1, 1), Bits(1, 1)});
      } else {
        sample(entry, last, length - position);
        const std::size_t count = last ? length - position : entry.run + std::size_t{1};
        add({std::move(inputs), count, [=](std::size_t element) -> Transaction {
               return {Bits(32, fp32_bits((*elements)[position + element])),
                       Bits(1, last && element + 1 == count ? 1 : 0), Bits(1)};
             }});
        position += count;
      }
    }
  }

  void sample(const RunLengthEntry& entry, bool last, std::size_t room) {
    coverage_.hit(entry.run == 0 ? run_none_ : entry.run == RunLengthEntry::max_run ? run_longest_ : run_);
    if (last) coverage_.hit(entry.run + std::size_t{1} == room ? full_ : filled_);
  }

  int length_bits_;
  std::vector<std::uint32_t> corners_ = stimulus::many_corner_codes(formats::fp32);
  OperandBins values_{coverage_, "value", formats::fp32};
  int empty_ = coverage_.declare("message without entries");
  int run_none_ = coverage_.declare("run 0");
  int run_ = coverage_.declare("run 1 to 65534");
  int run_longest_ = coverage_.declare("run 65535");
  int full_ = coverage_.declare("last entry fills the tensor");
  int filled_ = coverage_.declare("zeros after the last entry");
  int refused_run_ = coverage_.declare("refused: run too long");
  int refused_full_ = coverage_.declare("refused: tensor already full");
  int refused_last_ = coverage_.declare("refused: last entry");
  int refused_before_ = coverage_.declare("refused: entry before the last");
  int swallowed_ = coverage_.declare("entry after a refused one");
};

}  // namespace

UnitKind rle_decoder_kind() {
  return {
      .name = "rle_decoder",
      .module = "rle_decoder",
      .what = "run-length decoder of sparse gradients, one element per cycle",
      .section = "9",
      .latency = "PipeStages",
      .parameters = {{"LengthBits", 20, "bits of a tensor's length, 16 or more"},
                     {"PipeStages", 1, "0 or 1 register behind the decoder"}},
      .ports = {{"run_i", "16", "zeros before the value"},
                {"value_i", "32", "element, FP32"},
                {"last_i", "1", "last entry of its message; a message without entries is {0, +0}"},
                {"length_i", "LengthBits", "elements of the tensor, 1 or more; with each of its entries"},
                {"value_o", "32", "element, FP32"},
                {"last_o", "1", "the tensor ends here"},
                {"error_o", "1", "with last_o: the entry did not fit, the tensor is refused, value_o is +0"}},
      .configurations = {{"registered", {}},
                         {"combinational, 17 bits", {{"LengthBits", 17}, {"PipeStages", 0}}}},
      .systemc = make_rle_decoder,
      .reference = [](const UnitParameters& p) { return std::make_unique<RleDecoderReference>(p); },
      .default_transactions = 1500000,
  };
}

}  // namespace mantissa::verify
