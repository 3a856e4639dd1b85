// The values of all codes of a format of up to 8 bits, for kernels that decode by table.
#pragma once

#include <array>
#include <cstdint>

#include "models/format/convert.hpp"

namespace mantissa::kernels {

// FP32 values, canonical NaN; the format must be exact in FP32. Codes wider than the format are masked.
struct DecodeTable {
  alignas(64) std::array<float, 256> value;

  explicit DecodeTable(const Format& format) {
    for (std::uint32_t code = 0; code < 256; ++code) {
      value[code] =
          fp32_value(convert(code & format.code_mask(), {.from = format, .to = formats::fp32}).code);
    }
  }
};

}  // namespace mantissa::kernels
