#include "sim/verify/vector_reference.hpp"

#include <algorithm>
#include <cstdio>

namespace mantissa::verify {
namespace {

// Units whose inputs have at most this many bits are run through all of them.
constexpr int exhaustive_bits = 24;

int input_bits(const stimulus::VectorUnit& unit) {
  int bits = 0;
  for (const stimulus::VectorField& field : unit.inputs) bits += field.bits;
  return bits;
}

}  // namespace

std::string decimal_of(const Bits& bits, const std::optional<Format>& format) {
  if (bits.width() > 64) return {};
  if (!format) return std::to_string(bits.value());
  char number[64];
  std::snprintf(number, sizeof number, "%.9g", to_double(static_cast<std::uint32_t>(bits.value()), *format));
  return number;
}

std::string described_value(const Bits& bits, const std::optional<Format>& format) {
  const std::string number = decimal_of(bits, format);
  return number.empty() ? bits.hex() : bits.hex() + " = " + number;
}

VectorReference::VectorReference(stimulus::VectorUnit unit, std::vector<int> input_of,
                                 std::vector<int> output_of, const Flags& possible)
    : unit_(std::move(unit)), input_of_(std::move(input_of)), output_of_(std::move(output_of)) {
  for (const stimulus::VectorField& field : unit_.inputs) {
    operand_bins_.emplace_back();
    if (field.format) operand_bins_.back().emplace(coverage_, field.name, *field.format);
  }
  for (std::size_t i = 0; i < unit_.outputs.size(); ++i) {
    if (unit_.outputs[i].name != "flags") continue;
    flags_output_ = static_cast<int>(i);
    flag_bins_.emplace(coverage_, possible);
  }
}

Transaction VectorReference::transaction(const std::vector<std::uint32_t>& fields) const {
  Transaction inputs;
  inputs.reserve(input_of_.size());
  for (const int field : input_of_) {
    inputs.push_back(field < 0 ? Bits(1) : Bits(unit_.inputs[field].bits, fields[field]));
  }
  return inputs;
}

std::vector<std::uint32_t> VectorReference::fields_of(const Transaction& inputs) const {
  std::vector<std::uint32_t> fields(unit_.inputs.size());
  for (std::size_t port = 0; port < input_of_.size(); ++port) {
    if (input_of_[port] >= 0) fields[input_of_[port]] = static_cast<std::uint32_t>(inputs[port].value());
  }
  return fields;
}

Transaction VectorReference::stimulus(std::uint64_t index, stimulus::Dice& dice) {
  if (const auto corner = unit_.corner_in_turn(index)) return transaction(*corner);
  std::vector<std::uint32_t> fields(unit_.inputs.size());
  unit_.randomise(dice, fields);
  return transaction(fields);
}

std::uint64_t VectorReference::exhaustive_count() const {
  const int bits = input_bits(unit_);
  return bits <= exhaustive_bits ? std::uint64_t{1} << bits : 0;
}

Transaction VectorReference::exhaustive_stimulus(std::uint64_t index) {
  std::vector<std::uint32_t> fields;
  for (const stimulus::VectorField& field : unit_.inputs) {
    fields.push_back(static_cast<std::uint32_t>(index & ((std::uint64_t{1} << field.bits) - 1)));
    index >>= field.bits;
  }
  return transaction(fields);
}

void VectorReference::sample_operands(const std::vector<std::uint32_t>& fields,
                                      const std::vector<std::uint32_t>& results) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (operand_bins_[i]) operand_bins_[i]->sample(fields[i]);
  }
  if (flag_bins_) flag_bins_->sample(results[flags_output_]);
}

void VectorReference::accept(const Transaction& inputs) {
  const std::vector<std::uint32_t> fields = fields_of(inputs);
  const std::vector<std::uint32_t> results = unit_.golden(fields);
  sample_operands(fields, results);
  Transaction outputs;
  for (const int field : output_of_) outputs.emplace_back(unit_.outputs[field].bits, results[field]);
  expect(std::move(outputs), inputs);
}

std::string VectorReference::decimal(std::size_t output, const Bits& bits) const {
  if (output >= output_of_.size() || !unit_.outputs[output_of_[output]].format) return {};
  return decimal_of(bits, unit_.outputs[output_of_[output]].format);
}

std::vector<std::string> VectorReference::explain(const Transaction& cause) const {
  const std::vector<std::uint32_t> fields = fields_of(cause);
  const std::vector<std::uint32_t> results = unit_.golden(fields);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const stimulus::VectorField& field = unit_.inputs[i];
    lines.push_back(field.name + ": " + described_value(Bits(field.bits, fields[i]), field.format));
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const stimulus::VectorField& field = unit_.outputs[i];
    lines.push_back("golden " + field.name + ": " +
                    described_value(Bits(field.bits, results[i]), field.format));
  }
  return lines;
}

}  // namespace mantissa::verify
