// A tensor as it lies in memory, and what its elements stand for: FP32, codes of a format, or the integers of
// the GEMMLOWP quantizer. The golden models decode.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "models/format/format.hpp"
#include "models/quantize/gemmlowp.hpp"

namespace mantissa {

// Keeps the spans that it is made of.
class StoredTensor {
 public:
  StoredTensor() = default;  // no elements
  static StoredTensor fp32(std::span<const float> values) { return StoredTensor(Fp32{values}); }
  // Codes of up to 8 bits; each stands for its value * 2^-scale.
  static StoredTensor codes(std::span<const std::uint8_t> codes, const Format& format, int scale);
  static StoredTensor integers(std::span<const std::uint16_t> integers, const GemmlowpRange& range) {
    return StoredTensor(Integers{integers, range});
  }

  int bits() const;  // of an element
  std::int64_t size() const;
  std::uint32_t element(std::int64_t index) const;
  float value(std::uint32_t element) const;

 private:
  struct Fp32 {
    std::span<const float> values;
  };
  struct Codes {
    std::span<const std::uint8_t> codes;
    int bits = 0;
    std::vector<float> values;  // of every code
  };
  struct Integers {
    std::span<const std::uint16_t> integers;
    GemmlowpRange range;
  };
  using Elements = std::variant<Fp32, Codes, Integers>;
  explicit StoredTensor(Elements elements) : elements_(std::move(elements)) {}

  Elements elements_;
};

}  // namespace mantissa
