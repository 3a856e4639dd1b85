// rle_decoder in SystemC: each entry through the golden decoder, its elements out one by one, and a register
// behind it.
#include <algorithm>

#include "models/compress/run_length.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class RleDecoder : public ClockedUnit {
 public:
  RleDecoder(const sc_core::sc_module_name& name, int length_bits, int pipe_stages)
      : ClockedUnit(name), length_i_(*this, "length_i", length_bits), pipe_(pipe_stages) {}

  std::vector<std::string> stages() const override { return {"value", "error"}; }

 private:
  struct Result {
    std::uint32_t value = 0;
    bool last = false;
    bool error = false;
  };
  // An entry where the tensor stands, and the elements that it covers; none where it does not fit.
  struct Decoded {
    RunLengthEntry entry;
    std::size_t room = 0;
    std::vector<float> elements;
  };
  // What happens in this cycle if the entry on the inputs is valid.
  struct Step {
    std::optional<Result> result;
    bool done = false;  // with the entry, once the result is taken
  };

  void decode() {
    const RunLengthEntry entry{static_cast<std::uint16_t>(run_i_.value()), value_i_.code()};
    // The entry covers run + 1 elements; whether so many are left is the golden decoder's question.
    const std::size_t room = std::min<std::size_t>(length_i_.value() - position_, entry.run + std::size_t{1});
    if (entry == decoded_.entry && room == decoded_.room) return;
    decoded_ = {entry, room, {}};
    std::vector<std::uint8_t> message;
    append_entry(message, entry);
    try {
      decoded_.elements = run_length_decode(message, room);
    } catch (const std::invalid_argument&) {
      decoded_.elements.clear();
    }
  }

  Step step() const {
    const bool last_entry = last_i_.value() != 0;
    if (swallow_) return {std::nullopt, true};
    if (decoded_.elements.empty()) return {Result{0, true, true}, true};
    const bool end = position_ + 1 == length_i_.value();
    if (given_ < decoded_.elements.size()) {
      const bool at_value = given_ + 1 == decoded_.elements.size();
      return {Result{fp32_bits(decoded_.elements[given_]), at_value && last_entry && end},
              at_value && (!last_entry || end)};
    }
    return {Result{0, end}, end};
  }

  void evaluate() override {
    if (!swallow_ && given_ == 0) decode();
    const Step now = step();
    ready_o.write(now.done && (!now.result || pipe_.ready(ready_i.read())));
    const std::optional<Result> front = pipe_.front(valid_i.read() ? now.result : std::nullopt);
    valid_o.write(front.has_value());
    if (!front) return;
    value_o_.put(front->value ^ (corrupted("value") ? 1U : 0U));
    last_o_.put(front->last ? 1 : 0);
    error_o_.put(front->error != corrupted("error") ? 1 : 0);
  }

  void advance() override {
    const Step now = valid_i.read() ? step() : Step{};
    if (now.result && pipe_.ready(ready_i.read())) {
      swallow_ = now.result->error && last_i_.value() == 0;
      position_ = now.result->last ? 0 : position_ + 1;
      given_ = now.done ? 0 : given_ + 1;
    } else if (swallow_ && valid_i.read()) {
      swallow_ = last_i_.value() == 0;
    }
    pipe_.advance(now.result, ready_i.read());
  }

  void reset() override {
    position_ = 0;
    given_ = 0;
    swallow_ = false;
    pipe_.reset();
  }

  DataIn run_i_{*this, "run_i", 16};
  DataIn value_i_{*this, "value_i", 32};
  DataIn last_i_{*this, "last_i", 1};
  DataIn length_i_;
  DataOut value_o_{*this, "value_o", 32};
  DataOut last_o_{*this, "last_o", 1};
  DataOut error_o_{*this, "error_o", 1};
  Decoded decoded_;
  std::size_t position_ = 0;  // of the next element in the tensor
  std::size_t given_ = 0;     // elements of this entry that are out
  bool swallow_ = false;      // the rest of a refused message
  ResultPipe<Result> pipe_;
};

}  // namespace

std::unique_ptr<UnitModule> make_rle_decoder(const char* name, const UnitParameters& parameters) {
  return std::make_unique<RleDecoder>(name, parameters.at("LengthBits"), parameters.at("PipeStages"));
}

}  // namespace mantissa
