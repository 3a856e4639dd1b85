// rle_encoder, rle_decoder: the run-length code of sparse gradients, one entry per survivor (ARITHMETIC.md 9;
// Lin et al. 2018).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mantissa {

// Covers run + 1 elements: `run` zeros, then the value.
struct RunLengthEntry {
  static constexpr std::size_t bytes = 6;  // run in 2, value in 4, little-endian
  static constexpr std::uint32_t max_run = 65535;

  std::uint16_t run = 0;
  std::uint32_t value = 0;  // FP32 bits
  friend bool operator==(const RunLengthEntry&, const RunLengthEntry&) = default;
};

// |value| >= |threshold| as magnitude bits, so a NaN survives every finite threshold.
constexpr bool survives(std::uint32_t value, std::uint32_t threshold) {
  constexpr std::uint32_t magnitude = 0x7FFFFFFFU;
  return (value & magnitude) >= (threshold & magnitude);
}

// The encoder, element by element, as the unit sees them.
class RunLengthEncoder {
 public:
  explicit RunLengthEncoder(std::uint32_t threshold) : threshold_(threshold) {}

  // At most one entry per element: a survivor, or the filler of a run that the field cannot hold. Zeros still
  // pending at the end of a tensor are never sent.
  std::optional<RunLengthEntry> push(std::uint32_t value);

 private:
  std::uint32_t threshold_;
  std::uint32_t pending_ = 0;
};

// An entry becomes the message's next bytes.
void append_entry(std::vector<std::uint8_t>& message, const RunLengthEntry& entry);

std::vector<std::uint8_t> run_length_encode(std::span<const float> values, float threshold);

// `length` elements; those after the last entry are +0. Throws std::invalid_argument, and decodes nothing, if
// the message is not whole entries or reaches past `length`.
std::vector<float> run_length_decode(std::span<const std::uint8_t> message, std::size_t length);

}  // namespace mantissa
