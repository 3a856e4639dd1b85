// zero_packer: lines of every length and density, so that beats of every count meet every count that waits.

#include <algorithm>

#include "models/compress/packed_beats.hpp"
#include "sim/units/packed_ports.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/packed_stimulus.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class ZeroPackerReference : public StreamReference {
 public:
  explicit ZeroPackerReference(const UnitParameters& parameters) : ports_(parameters) {
    for (int count = 0; count <= ports_.lanes; ++count)
      nonzeros_.push_back(coverage_.declare("beat with " + std::to_string(count) + " non-zeros"));
    for (int count = 0; count < ports_.lanes; ++count)
      waiting_.push_back(coverage_.declare("beat where " + std::to_string(count) + " codes wait"));
  }

  // Without valid nothing is looked at.
  Transaction idle(stimulus::Dice& dice) override {
    return {random_bits(dice, ports_.codes_width()), random_bits(dice, ports_.count_width()),
            Bits(1, dice.bits(1))};
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"beat of " + std::to_string(cause[1].value()) + " elements" +
            (cause[2].value() != 0 ? ", last of its line" : "")};
  }

 private:
  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    const std::vector<std::uint8_t> codes = packed_stimulus_line(index, dice, ports_);
    coverage_.hit_if(codes.size() == 1, single_);
    ZeroPacker packer(ports_.lanes, ports_.code);
    std::size_t waiting = 0;
    for (const DenseBeat& beat : beats_of(codes, ports_.lanes)) {
      const PackedBeat packed = packer.push(beat);
      std::vector<PackedBeat> answers{packed};
      if (beat.last) {
        if (const std::optional<PackedBeat> rest = packer.flush()) answers.push_back(*rest);
      }
      waiting = sample(beat, answers, waiting);
      Transaction inputs{lanes_with_rest(dice, ports_, beat.codes), ports_.count(beat.codes.size()),
                         Bits(1, beat.last ? 1 : 0)};
      add({std::move(inputs), answers.size(),
           [this, answers](std::size_t answer) { return outputs(answers[answer]); }});
    }
  }

  Transaction outputs(const PackedBeat& beat) const {
    return {ports_.mask(beat.mask), ports_.count(beat.mask.size()), ports_.codes(beat.word),
            ports_.count(beat.word.size()), Bits(1, beat.last ? 1 : 0)};
  }

  // The codes that wait afterwards.
  std::size_t sample(const DenseBeat& beat, const std::vector<PackedBeat>& answers, std::size_t waiting) {
    const std::vector<bool>& mask = answers[0].mask;
    const auto nonzero = static_cast<std::size_t>(std::count(mask.begin(), mask.end(), true));
    const std::size_t word = answers[0].word.size();
    const auto lanes = static_cast<std::size_t>(ports_.lanes);
    coverage_.hit(nonzeros_[nonzero]);
    coverage_.hit(waiting_[waiting]);
    const auto sign = static_cast<std::uint8_t>(1U << (ports_.code.bits - 1));
    for (const std::uint8_t code : beat.codes) coverage_.hit_if(code == sign, sign_alone_);
    if (!beat.last) {
      coverage_.hit(word == 0 ? no_word_ : waiting + nonzero == lanes ? word_ : word_and_more_);
      return waiting + nonzero - word;
    }
    coverage_.hit(beat.codes.size() == lanes ? full_end_ : short_end_);
    coverage_.hit(answers.size() == 2 ? end_in_two_
                  : word == lanes     ? end_with_word_
                  : word > 0          ? end_with_rest_
                                      : end_without_codes_);
    return 0;
  }

  PackedPorts ports_;
  std::vector<int> nonzeros_;
  std::vector<int> waiting_;
  int single_ = coverage_.declare("line of one element");
  int sign_alone_ = coverage_.declare("code 10..0");
  int no_word_ = coverage_.declare("word not yet full");
  int word_ = coverage_.declare("word just full");
  int word_and_more_ = coverage_.declare("word full, codes wait");
  int full_end_ = coverage_.declare("last beat full");
  int short_end_ = coverage_.declare("last beat short");
  int end_without_codes_ = coverage_.declare("end without codes");
  int end_with_rest_ = coverage_.declare("end with a short word");
  int end_with_word_ = coverage_.declare("end with a full word");
  int end_in_two_ = coverage_.declare("end in two cycles");
};

}  // namespace

UnitKind zero_packer_kind() {
  return {
      .name = "zero_packer",
      .module = "zero_packer",
      .what = "a line of codes as a bit mask and its non-zero codes, one beat per cycle",
      .section = "13",
      .latency = "PipeStages; one more cycle at the end of a line that fills a word and leaves codes",
      .parameters = packed_parameters("behind compacting a beat"),
      .ports = {{"codes_i", "Lanes*Width", "a beat: codes of consecutive elements, first one lowest"},
                {"elements_i", "clog2(Lanes+1)", "elements in the beat: Lanes, in the last one 1 or more"},
                {"last_i", "1", "last beat of its line"},
                {"mask_o", "Lanes", "bit i: element i of the beat is not zero"},
                {"elements_o", "clog2(Lanes+1)", "elements that mask_o speaks of; 0: no mask"},
                {"word_o", "Lanes*Width",
                 "next non-zero codes of the line, first one lowest, +0 behind them"},
                {"fill_o", "clog2(Lanes+1)", "codes in word_o: Lanes, at the end what is left; 0: no word"},
                {"last_o", "1", "the line ends here"}},
      .configurations = {{"16 x 8 bits", {}},
                         {"8 x 8 bits, one zero, combinational",
                          {{"Lanes", 8}, {"NegativeZero", 0}, {"PipeStages", 0}}},
                         {"32 x 4 bits, 2 stages", {{"Lanes", 32}, {"Width", 4}, {"PipeStages", 2}}},
                         {"5 x 6 bits", {{"Lanes", 5}, {"Width", 6}}}},
      .systemc = make_zero_packer,
      .reference = [](const UnitParameters& p) { return std::make_unique<ZeroPackerReference>(p); },
  };
}

}  // namespace mantissa::verify
