#include "sim/units/rle_decoder.hpp"

#include <algorithm>

#include "models/format/convert.hpp"

namespace mantissa {

std::vector<std::uint8_t> message_of(std::span<const RunLengthEntry> entries) {
  std::vector<std::uint8_t> message;
  for (const RunLengthEntry& entry : entries) {
    for (int byte = 0; byte < 2; ++byte) message.push_back(static_cast<std::uint8_t>(entry.run >> 8 * byte));
    for (int byte = 0; byte < 4; ++byte)
      message.push_back(static_cast<std::uint8_t>(entry.value >> 8 * byte));
  }
  return message;
}

RleDecoder::RleDecoder(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name),
      length_bits_(parameters.at("LengthBits")),
      run_i_(*this, "run_i", 16),
      value_i_(*this, "value_i", 32),
      last_i_(*this, "last_i", 1),
      length_i_(*this, "length_i", length_bits_),
      value_o_(*this, "value_o", 32),
      last_o_(*this, "last_o", 1),
      error_o_(*this, "error_o", 1),
      pipe_(parameters.at("PipeStages")) {}

void RleDecoder::corrupt(std::string_view stage) {
  if (stage == "value") flip_.value = 1;
  if (stage == "error") flip_.error = true;
}

void RleDecoder::decode() {
  const RunLengthEntry entry{static_cast<std::uint16_t>(run_i_.value()),
                             static_cast<std::uint32_t>(value_i_.value())};
  // The entry covers run + 1 elements; whether so many are left is the golden decoder's question.
  const std::size_t room = std::min<std::size_t>(length_i_.value() - position_, entry.run + std::size_t{1});
  if (entry == decoded_.entry && room == decoded_.room) return;
  decoded_ = {entry, room, {}};
  try {
    decoded_.elements = run_length_decode(message_of({&entry, 1}), room);
  } catch (const std::invalid_argument&) {
    decoded_.elements.clear();
  }
}

RleDecoder::Step RleDecoder::step() const {
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

void RleDecoder::evaluate() {
  if (!swallow_ && given_ == 0) decode();
  const Step now = step();
  ready_o.write(now.done && (!now.result || pipe_.ready(ready_i.read())));
  const std::optional<Result> front = pipe_.front(valid_i.read() ? now.result : std::nullopt);
  valid_o.write(front.has_value());
  if (!front) return;
  value_o_.put(front->value ^ flip_.value);
  last_o_.put(front->last ? 1 : 0);
  error_o_.put(front->error != flip_.error ? 1 : 0);
}

void RleDecoder::advance() {
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

void RleDecoder::reset() {
  position_ = 0;
  given_ = 0;
  swallow_ = false;
  pipe_.reset();
}

}  // namespace mantissa
