// zero_packer in SystemC: the golden packer, beat by beat, and its registers.
#include "models/compress/packed_beats.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/packed_ports.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class ZeroPackerUnit : public ClockedUnit {
 public:
  ZeroPackerUnit(const sc_core::sc_module_name& name, const PackedPorts& ports, int pipe_stages)
      : ClockedUnit(name),
        ports_(ports),
        packer_(ports.lanes, ports.code),
        beats_(pipe_stages >= 2 ? 1 : 0),
        results_(pipe_stages >= 1 ? 1 : 0) {}

  std::vector<std::string> stages() const override { return {"mask", "word", "fill"}; }

 private:
  // What a cycle does if its result is taken, and the packer after it.
  struct Step {
    std::optional<PackedBeat> result;
    ZeroPacker packer;
    bool flushing = false;
  };

  std::optional<DenseBeat> incoming() const {
    if (!valid_i.read()) return std::nullopt;
    return DenseBeat{ports_.codes(codes_i_.read(), elements_i_.value()), last_i_.value() != 0};
  }

  Step step() const {
    Step next{std::nullopt, packer_};
    if (flushing_) {
      next.result = next.packer.flush();
    } else if (const std::optional<DenseBeat> beat = beats_.front(incoming())) {
      next.result = next.packer.push(*beat);
      next.flushing = beat->last && !next.result->last;
    }
    return next;
  }

  bool takes_beat() const { return !flushing_ && results_.ready(ready_i.read()); }

  void evaluate() override {
    ready_o.write(beats_.ready(takes_beat()));
    const std::optional<PackedBeat> front = results_.front(step().result);
    valid_o.write(front.has_value());
    if (!front) return;
    Bits mask = ports_.mask(front->mask);
    Bits word = ports_.codes(front->word);
    if (corrupted("mask")) mask.flip(0);
    if (corrupted("word")) word.flip(0);
    mask_o_.write(mask);
    elements_o_.put(front->mask.size());
    word_o_.write(word);
    fill_o_.put(front->word.size() ^ (corrupted("fill") ? 1U : 0U));
    last_o_.put(front->last ? 1 : 0);
  }

  void advance() override {
    const bool takes = takes_beat();
    const std::optional<DenseBeat> beat = incoming();
    const Step next = step();
    const bool moves = next.result && results_.ready(ready_i.read());
    results_.advance(next.result, ready_i.read());
    beats_.advance(beat, takes);
    if (!moves) return;
    packer_ = next.packer;
    flushing_ = next.flushing;
  }

  void reset() override {
    packer_ = ZeroPacker(ports_.lanes, ports_.code);
    flushing_ = false;
    beats_.reset();
    results_.reset();
  }

  PackedPorts ports_;
  DataIn codes_i_{*this, "codes_i", ports_.codes_width()};
  DataIn elements_i_{*this, "elements_i", ports_.count_width()};
  DataIn last_i_{*this, "last_i", 1};
  DataOut mask_o_{*this, "mask_o", ports_.lanes};
  DataOut elements_o_{*this, "elements_o", ports_.count_width()};
  DataOut word_o_{*this, "word_o", ports_.codes_width()};
  DataOut fill_o_{*this, "fill_o", ports_.count_width()};
  DataOut last_o_{*this, "last_o", 1};
  ZeroPacker packer_;
  bool flushing_ = false;  // a line has ended, codes of it still wait
  ResultPipe<DenseBeat> beats_;
  ResultPipe<PackedBeat> results_;
};

}  // namespace

std::unique_ptr<UnitModule> make_zero_packer(const char* name, const UnitParameters& parameters) {
  return std::make_unique<ZeroPackerUnit>(name, PackedPorts(parameters), parameters.at("PipeStages"));
}

}  // namespace mantissa
