// The way into an encoded tensor: what the quantizers of ARITHMETIC.md 5 make of FP32 numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/format/convert.hpp"
#include "models/random/stream.hpp"
#include "models/tensor/encoded_tensor.hpp"

namespace mantissa {

// What a quantizer makes, and how. Of FP32 nothing but the type counts.
struct Encoding {
  ElementType type;
  Rounding rounding = Rounding::rne();
  Overflow overflow = Overflow::ieee;  // of codes
  bool via_fp16 = false;               // of codes
  int scale = 0;                       // of codes: x * 2^scale is rounded
  bool exact_zero = false;             // of integers: the range is moved until one of them stands for zero

  // The codes' quantizer as a conversion from FP32.
  Conversion conversion() const {
    return {.to = type.format(),
            .rounding = rounding,
            .overflow = overflow,
            .via_fp16 = via_fp16,
            .scale = scale};
  }
};

struct EncodeOptions {
  bool decoded = false;  // codes are held as their values
  // All numbers are on this grid already: encoding onto it again would change nothing, in any rounding, and
  // is left out where the values of codes are held.
  std::optional<Grid> on = std::nullopt;
  int threads = 1;
  ConversionCounts* counts = nullptr;  // what the quantizer of codes met is added
};

// Element i takes draw i / lanes of lane i mod lanes. FP32, and numbers that nothing has to be done to, are
// looked at: then `numbers` must outlive the tensor.
void encode(std::span<const float> numbers, const Encoding& how, const DrawSource& draws,
            EncodedTensor& tensor, const EncodeOptions& options = {});

}  // namespace mantissa
