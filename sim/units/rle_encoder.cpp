// rle_encoder in SystemC: the golden encoder, element by element, and a register behind it.
#include "models/compress/run_length.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/result_pipe.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class RleEncoder : public ClockedUnit {
 public:
  RleEncoder(const sc_core::sc_module_name& name, int pipe_stages) : ClockedUnit(name), pipe_(pipe_stages) {}

  std::vector<std::string> stages() const override { return {"run", "value"}; }

 private:
  struct Result {
    std::optional<RunLengthEntry> entry;
    bool last = false;
  };

  RunLengthEncoder current() const { return encoder_ ? *encoder_ : RunLengthEncoder(threshold_i_.code()); }
  // What the element on the inputs gives, and the encoder after it.
  std::optional<Result> push(RunLengthEncoder& encoder) const {
    const Result result{encoder.push(value_i_.code()), last_i_.value() != 0};
    if (!result.entry && !result.last) return std::nullopt;
    return result;
  }

  void evaluate() override {
    RunLengthEncoder encoder = current();
    const std::optional<Result> result = push(encoder);
    ready_o.write(!result || pipe_.ready(ready_i.read()));
    const std::optional<Result> front = pipe_.front(valid_i.read() ? result : std::nullopt);
    valid_o.write(front.has_value());
    if (!front) return;
    const RunLengthEntry entry = front->entry.value_or(RunLengthEntry{});
    run_o_.put(entry.run ^ (corrupted("run") ? 1U : 0U));
    value_o_.put(entry.value ^ (corrupted("value") ? 1U : 0U));
    entry_o_.put(front->entry ? 1 : 0);
    last_o_.put(front->last ? 1 : 0);
  }

  void advance() override {
    std::optional<Result> result;
    if (valid_i.read()) {
      RunLengthEncoder encoder = current();
      result = push(encoder);
      const bool accepted = !result || pipe_.ready(ready_i.read());
      if (accepted && last_i_.value() != 0) {
        encoder_.reset();
      } else if (accepted) {
        encoder_ = encoder;
      }
    }
    pipe_.advance(result, ready_i.read());
  }

  void reset() override {
    encoder_.reset();
    pipe_.reset();
  }

  DataIn value_i_{*this, "value_i", 32};
  DataIn threshold_i_{*this, "threshold_i", 32};
  DataIn last_i_{*this, "last_i", 1};
  DataOut run_o_{*this, "run_o", 16};
  DataOut value_o_{*this, "value_o", 32};
  DataOut entry_o_{*this, "entry_o", 1};
  DataOut last_o_{*this, "last_o", 1};
  std::optional<RunLengthEncoder> encoder_;  // of the tensor that has begun
  ResultPipe<Result> pipe_;
};

}  // namespace

std::unique_ptr<UnitModule> make_rle_encoder(const char* name, const UnitParameters& parameters) {
  return std::make_unique<RleEncoder>(name, parameters.at("PipeStages"));
}

}  // namespace mantissa
