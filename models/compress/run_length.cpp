#include "models/compress/run_length.hpp"

#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"

namespace mantissa {
namespace {

void append_little_endian(std::vector<std::uint8_t>& message, std::uint32_t word, int bytes) {
  for (int byte = 0; byte < bytes; ++byte) message.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
}

std::uint32_t little_endian(std::span<const std::uint8_t> bytes) {
  std::uint32_t word = 0;
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) word |= std::uint32_t{bytes[byte]} << (8 * byte);
  return word;
}

RunLengthEntry entry_at(std::span<const std::uint8_t> message, std::size_t offset) {
  return {static_cast<std::uint16_t>(little_endian(message.subspan(offset, 2))),
          little_endian(message.subspan(offset + 2, 4))};
}

}  // namespace

std::optional<RunLengthEntry> RunLengthEncoder::push(std::uint32_t value) {
  const auto run = static_cast<std::uint16_t>(pending_);
  if (survives(value, threshold_)) {
    pending_ = 0;
    return RunLengthEntry{run, value};
  }
  if (pending_ == RunLengthEntry::max_run) {
    // The filler's own +0 stands for this element: the entry covers 65536.
    pending_ = 0;
    return RunLengthEntry{run, 0};
  }
  ++pending_;
  return std::nullopt;
}

void append_entry(std::vector<std::uint8_t>& message, const RunLengthEntry& entry) {
  append_little_endian(message, entry.run, 2);
  append_little_endian(message, entry.value, 4);
}

std::vector<std::uint8_t> run_length_encode(std::span<const float> values, float threshold) {
  std::vector<std::uint8_t> message;
  RunLengthEncoder encoder(fp32_bits(threshold));
  for (const float value : values) {
    if (const std::optional<RunLengthEntry> entry = encoder.push(fp32_bits(value))) {
      append_entry(message, *entry);
    }
  }
  return message;
}

std::vector<float> run_length_decode(std::span<const std::uint8_t> message, std::size_t length) {
  if (message.size() % RunLengthEntry::bytes != 0) {
    throw std::invalid_argument("a run-length message of " + std::to_string(message.size()) +
                                " bytes is not whole entries of 6 bytes");
  }
  std::vector<float> values(length, 0.0F);
  std::size_t position = 0;
  for (std::size_t offset = 0; offset < message.size(); offset += RunLengthEntry::bytes) {
    const RunLengthEntry entry = entry_at(message, offset);
    position += entry.run;
    if (position >= length) {
      throw std::invalid_argument("run-length entry " + std::to_string(offset / RunLengthEntry::bytes) +
                                  " reaches element " + std::to_string(position) + " of a tensor of " +
                                  std::to_string(length));
    }
    values[position++] = fp32_value(entry.value);
  }
  return values;
}

}  // namespace mantissa
