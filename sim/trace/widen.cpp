#include "sim/trace/widen.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/decode_table.hpp"

namespace mantissa::trace {
namespace {

static_assert(std::endian::native == std::endian::little, "traces are little-endian and are not swapped");

std::vector<float> sixteen_bit_table(const Format& format) {
  std::vector<float> table(1U << 16);
  for (std::uint32_t code = 0; code < table.size(); ++code)
    table[code] = fp32_value(convert(code, {.from = format, .to = formats::fp32}).code);
  return table;
}

void decode8(const kernels::DecodeTable& table, std::span<const std::byte> bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = table.value[std::to_integer<std::uint8_t>(bytes[i])];
}

void decode16(const std::vector<float>& table, std::span<const std::byte> bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t code = 0;
    std::memcpy(&code, bytes.data() + 2 * i, sizeof code);
    values[i] = table[code];
  }
}

}  // namespace

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return formats::fp16;
    case DType::bf16:
      return formats::bf16;
    case DType::e5m2:
      return formats::e5m2;
    case DType::e4m3:
      return formats::e4m3;
    case DType::f32:
      return formats::fp32;
  }
  throw std::invalid_argument("a type of elements without a format");
}

void widen(DType dtype, std::span<const std::byte> bytes, std::span<float> values) {
  if (bytes.size() != values.size() * bytes_of(dtype))
    throw std::invalid_argument("widen: the number of bytes is not that of the values");
  switch (dtype) {
    case DType::f32:
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      break;
    case DType::f16: {
      static const std::vector<float> table = sixteen_bit_table(formats::fp16);
      decode16(table, bytes, values);
      break;
    }
    case DType::bf16: {
      static const std::vector<float> table = sixteen_bit_table(formats::bf16);
      decode16(table, bytes, values);
      break;
    }
    case DType::e5m2: {
      static const kernels::DecodeTable table(formats::e5m2);
      decode8(table, bytes, values);
      break;
    }
    case DType::e4m3: {
      static const kernels::DecodeTable table(formats::e4m3);
      decode8(table, bytes, values);
      break;
    }
  }
}

}  // namespace mantissa::trace
