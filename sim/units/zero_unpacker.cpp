// zero_unpacker in SystemC: the golden unpacker, beat by beat, and its registers.
#include "models/compress/packed_beats.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/packed_ports.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class ZeroUnpackerUnit : public ClockedUnit {
 public:
  ZeroUnpackerUnit(const sc_core::sc_module_name& name, const PackedPorts& ports, int pipe_stages)
      : ClockedUnit(name),
        ports_(ports),
        unpacker_(ports.code),
        beats_(pipe_stages >= 2 ? 1 : 0),
        results_(pipe_stages >= 1 ? 1 : 0) {}

  std::vector<std::string> stages() const override { return {"codes", "error"}; }

 private:
  struct Beat {
    PackedBeat packed;
    bool stray = false;
  };
  // What a cycle does, and the unpacker after it.
  struct Step {
    std::optional<Beat> beat;
    std::optional<ZeroUnpacker::Result> result;
    ZeroUnpacker unpacker;
  };

  std::optional<Beat> incoming() const {
    if (!valid_i.read()) return std::nullopt;
    Beat beat{{{}, ports_.codes(word_i_.read(), fill_i_.value()), last_i_.value() != 0}};
    for (int lane = 0; lane < ports_.lanes; ++lane) {
      const bool bit = mask_i_.read().bit(lane);
      const bool inside = lane < static_cast<int>(elements_i_.value());
      if (inside) beat.packed.mask.push_back(bit);
      beat.stray = beat.stray || (bit && !inside);
    }
    return beat;
  }

  Step step() const {
    Step next{beats_.front(incoming()), std::nullopt, unpacker_};
    if (next.beat) next.result = next.unpacker.push(next.beat->packed, next.beat->stray);
    return next;
  }

  // Of a refused line's rest nothing comes, so it waits for nobody.
  bool takes_beat() const { return unpacker_.swallowing() || results_.ready(ready_i.read()); }

  void evaluate() override {
    const Step next = step();
    ready_o.write(beats_.ready(takes_beat()));
    const std::optional<ZeroUnpacker::Result> front = results_.front(next.result);
    valid_o.write(front.has_value());
    if (!front) return;
    Bits codes = ports_.codes(front->beat.codes);
    if (corrupted("codes")) codes.flip(0);
    codes_o_.write(codes);
    elements_o_.put(front->beat.codes.size());
    last_o_.put(front->beat.last ? 1 : 0);
    error_o_.put(front->refused != corrupted("error") ? 1 : 0);
  }

  void advance() override {
    const Step next = step();
    const bool takes = takes_beat();
    const std::optional<Beat> beat = incoming();
    results_.advance(next.result, ready_i.read());
    beats_.advance(beat, takes);
    if (next.beat && takes) unpacker_ = next.unpacker;
  }

  void reset() override {
    unpacker_ = ZeroUnpacker(ports_.code);
    beats_.reset();
    results_.reset();
  }

  PackedPorts ports_;
  DataIn mask_i_{*this, "mask_i", ports_.lanes};
  DataIn elements_i_{*this, "elements_i", ports_.count_width()};
  DataIn word_i_{*this, "word_i", ports_.codes_width()};
  DataIn fill_i_{*this, "fill_i", ports_.count_width()};
  DataIn last_i_{*this, "last_i", 1};
  DataOut codes_o_{*this, "codes_o", ports_.codes_width()};
  DataOut elements_o_{*this, "elements_o", ports_.count_width()};
  DataOut last_o_{*this, "last_o", 1};
  DataOut error_o_{*this, "error_o", 1};
  ZeroUnpacker unpacker_;
  ResultPipe<Beat> beats_;
  ResultPipe<ZeroUnpacker::Result> results_;
};

}  // namespace

std::unique_ptr<UnitModule> make_zero_unpacker(const char* name, const UnitParameters& parameters) {
  return std::make_unique<ZeroUnpackerUnit>(name, PackedPorts(parameters), parameters.at("PipeStages"));
}

}  // namespace mantissa
