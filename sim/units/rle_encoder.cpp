#include "sim/units/rle_encoder.hpp"

namespace mantissa {

RleEncoder::RleEncoder(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name),
      value_i_(*this, "value_i", 32),
      threshold_i_(*this, "threshold_i", 32),
      last_i_(*this, "last_i", 1),
      run_o_(*this, "run_o", 16),
      value_o_(*this, "value_o", 32),
      entry_o_(*this, "entry_o", 1),
      last_o_(*this, "last_o", 1),
      pipe_(parameters.at("PipeStages")) {}

void RleEncoder::corrupt(std::string_view stage) {
  if (stage == "run") flip_.run = 1;
  if (stage == "value") flip_.value = 1;
}

RunLengthEncoder RleEncoder::current() const {
  return encoder_ ? *encoder_ : RunLengthEncoder(static_cast<std::uint32_t>(threshold_i_.value()));
}

std::optional<RleEncoder::Result> RleEncoder::push(RunLengthEncoder& encoder) const {
  const Result result{encoder.push(static_cast<std::uint32_t>(value_i_.value())), last_i_.value() != 0};
  if (!result.entry && !result.last) return std::nullopt;
  return result;
}

void RleEncoder::evaluate() {
  RunLengthEncoder encoder = current();
  const std::optional<Result> result = push(encoder);
  ready_o.write(!result || pipe_.ready(ready_i.read()));
  const std::optional<Result> front = pipe_.front(valid_i.read() ? result : std::nullopt);
  valid_o.write(front.has_value());
  if (!front) return;
  const RunLengthEntry entry = front->entry.value_or(RunLengthEntry{});
  run_o_.put(entry.run ^ flip_.run);
  value_o_.put(entry.value ^ flip_.value);
  entry_o_.put(front->entry ? 1 : 0);
  last_o_.put(front->last ? 1 : 0);
}

void RleEncoder::advance() {
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

void RleEncoder::reset() {
  encoder_.reset();
  pipe_.reset();
}

}  // namespace mantissa
