// zero_unpacker: lines as they are stored, and lines that nobody stored: one thing in them is wrong.

#include <algorithm>
#include <array>

#include "models/compress/packed_beats.hpp"
#include "sim/units/packed_ports.hpp"
#include "sim/verify/stream_reference.hpp"
#include "sim/verify/units/packed_stimulus.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

constexpr std::array<const char*, 6> faults = {"a bit beyond the elements",    "no word where one is needed",
                                               "a word that is not needed",    "too few codes",
                                               "codes left at the line's end", "a code that is a zero"};
enum Fault { stray_bit, missing_word, unneeded_word, short_word, long_word, zero_code, no_fault };

// A beat as it is driven; `stray`: bits beyond its elements.
struct Driven {
  PackedBeat beat;
  std::uint64_t stray = 0;
};

class ZeroUnpackerReference : public StreamReference {
 public:
  explicit ZeroUnpackerReference(const UnitParameters& parameters) : ports_(parameters) {
    for (int count = 0; count <= ports_.lanes; ++count)
      nonzeros_.push_back(coverage_.declare("beat with " + std::to_string(count) + " non-zeros"));
    for (int count = 0; count < ports_.lanes; ++count)
      waiting_.push_back(coverage_.declare("beat where " + std::to_string(count) + " codes wait"));
    for (const char* fault : faults) {
      refused_.push_back(coverage_.declare(std::string("refused: ") + fault));
      refused_last_.push_back(coverage_.declare(std::string("refused in the last beat: ") + fault));
    }
    coverage_.exclude("refused: a bit beyond", "only the last beat has less elements than lanes");
    coverage_.exclude("refused: codes left", "only the last beat knows the end");
  }

  Transaction idle(stimulus::Dice& dice) override {
    return {random_bits(dice, ports_.lanes), random_bits(dice, ports_.count_width()),
            random_bits(dice, ports_.codes_width()), random_bits(dice, ports_.count_width()),
            Bits(1, dice.bits(1))};
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"beat of " + std::to_string(cause[1].value()) + " elements with " +
            std::to_string(cause[3].value()) + " codes" +
            (cause[4].value() != 0 ? ", last of its line" : "")};
  }

 private:
  void make_stream(std::uint64_t index, stimulus::Dice& dice) override {
    std::vector<Driven> line = stored(packed_stimulus_line(index, dice, ports_));
    Fault fault = no_fault;
    if (index >= 6 && dice.below(3) == 0) fault = spoil(line, dice);

    ZeroUnpacker unpacker(ports_.code);
    std::size_t waiting = 0;
    bool refused = false;
    for (const Driven& driven : line) {
      const PackedBeat& beat = driven.beat;
      const std::optional<ZeroUnpacker::Result> result = unpacker.push(beat, driven.stray != 0);
      const auto nonzero = static_cast<std::size_t>(std::count(beat.mask.begin(), beat.mask.end(), true));
      Bits mask = ports_.mask(beat.mask);
      for (int lane = static_cast<int>(beat.mask.size()); lane < ports_.lanes; ++lane)
        mask.set_field(lane, 1, driven.stray >> lane & 1);
      Transaction inputs{mask, ports_.count(beat.mask.size()), lanes_with_rest(dice, ports_, beat.word),
                         ports_.count(beat.word.size()), Bits(1, beat.last ? 1 : 0)};
      if (!result) {
        coverage_.hit(beat.last ? swallowed_last_ : swallowed_);
        add(std::move(inputs));
        continue;
      }
      if (result->refused) {
        coverage_.hit_if(fault != no_fault && !refused, (beat.last ? refused_last_ : refused_)[fault]);
        refused = true;
      } else {
        coverage_.hit(nonzeros_[nonzero]);
        coverage_.hit(waiting_[waiting]);
        coverage_.hit(beat.word.empty()                                            ? no_word_
                      : beat.word.size() == static_cast<std::size_t>(ports_.lanes) ? full_word_
                                                                                   : short_word_);
        waiting += beat.word.size() - nonzero;
        if (beat.last) coverage_.hit(result->beat.codes.size() == 1 ? end_of_one_ : end_);
      }
      add(std::move(inputs), {ports_.codes(result->beat.codes), ports_.count(result->beat.codes.size()),
                              Bits(1, result->beat.last ? 1 : 0), Bits(1, result->refused ? 1 : 0)});
    }
  }

  // The beats of a line, each word beside the first piece of the mask that needs a code of it.
  std::vector<Driven> stored(const std::vector<std::uint8_t>& codes) const {
    const std::vector<std::uint8_t> bytes = pack_line(codes, ports_.code);
    PackedLineReader reader(ports_.lanes, ports_.code);
    reader.begin({std::ssize(codes)});
    std::vector<Driven> line;
    while (!reader.done()) line.push_back({*reader.next(bytes)});
    return line;
  }

  // Puts a fault into one of its beats, if it can be there.
  Fault spoil(std::vector<Driven>& line, stimulus::Dice& dice) const {
    const auto fault = static_cast<Fault>(dice.below(faults.size()));
    const bool in_last = fault == stray_bit || fault == long_word || dice.below(2) == 0;
    Driven& driven = in_last ? line.back() : line[dice.below(line.size())];
    PackedBeat& beat = driven.beat;
    const auto lanes = static_cast<std::uint64_t>(ports_.lanes);
    switch (fault) {
      case stray_bit:
        if (beat.mask.size() == lanes) return no_fault;
        driven.stray = std::uint64_t{1} << (beat.mask.size() + dice.below(lanes - beat.mask.size()));
        // Half of them with a code for it, so that nothing but the bit is wrong.
        if (dice.below(2) == 0 && beat.word.size() < lanes) beat.word.push_back(1);
        return fault;
      case missing_word:
        if (beat.word.empty()) return no_fault;
        beat.word.clear();
        return fault;
      case unneeded_word:
        if (!beat.word.empty()) return no_fault;
        beat.word.assign(1 + dice.below(lanes), 1);
        return fault;
      case short_word:
        if (beat.word.size() < 2) return no_fault;
        beat.word.resize(1 + dice.below(beat.word.size() - 1));
        return fault;
      case long_word:
        if (beat.word.empty() || beat.word.size() == lanes) return no_fault;
        beat.word.resize(beat.word.size() + 1 + dice.below(lanes - beat.word.size()), 1);
        return fault;
      case zero_code:
        if (beat.word.empty()) return no_fault;
        beat.word[dice.below(beat.word.size())] =
            ports_.code.negative_zero && dice.below(2) == 0
                ? static_cast<std::uint8_t>(1U << (ports_.code.bits - 1))
                : std::uint8_t{0};
        return fault;
      case no_fault:
        break;
    }
    return no_fault;
  }

  PackedPorts ports_;
  std::vector<int> nonzeros_;
  std::vector<int> waiting_;
  std::vector<int> refused_;
  std::vector<int> refused_last_;
  int no_word_ = coverage_.declare("no word");
  int full_word_ = coverage_.declare("full word");
  int short_word_ = coverage_.declare("short word");
  int end_ = coverage_.declare("end of a line");
  int end_of_one_ = coverage_.declare("end with a beat of one element");
  int swallowed_ = coverage_.declare("beat after a refused one");
  int swallowed_last_ = coverage_.declare("last beat of a refused line");
};

}  // namespace

UnitKind zero_unpacker_kind() {
  return {
      .name = "zero_unpacker",
      .module = "zero_unpacker",
      .what = "a packed line back to codes, one beat per cycle",
      .section = "13",
      .latency = "PipeStages",
      .parameters = packed_parameters("behind counting the mask"),
      .ports =
          {{"mask_i", "Lanes", "bit i: element i of the beat is not zero; 0 beyond its elements"},
           {"elements_i", "clog2(Lanes+1)", "elements in the beat: Lanes, in the last one 1 or more"},
           {"word_i", "Lanes*Width", "the line's next codes, first one lowest; anything beyond fill_i"},
           {"fill_i", "clog2(Lanes+1)",
            "codes in word_i: Lanes, or what is left of the line's, if more are needed than wait; else 0"},
           {"last_i", "1", "last beat of its line"},
           {"codes_o", "Lanes*Width", "the beat's codes, +0 where there is none"},
           {"elements_o", "clog2(Lanes+1)", "elements in the beat"},
           {"last_o", "1", "the line ends here"},
           {"error_o", "1", "with last_o: the line is refused, elements_o and codes_o are 0"}},
      .configurations = {{"16 x 8 bits", {}},
                         {"8 x 8 bits, one zero, combinational",
                          {{"Lanes", 8}, {"NegativeZero", 0}, {"PipeStages", 0}}},
                         {"32 x 4 bits, 2 stages", {{"Lanes", 32}, {"Width", 4}, {"PipeStages", 2}}},
                         {"5 x 6 bits", {{"Lanes", 5}, {"Width", 6}}}},
      .systemc = make_zero_unpacker,
      .reference = [](const UnitParameters& p) { return std::make_unique<ZeroUnpackerReference>(p); },
  };
}

}  // namespace mantissa::verify
