#include "sim/arch/stored_tensor.hpp"

#include <stdexcept>

#include "models/quantize/quantizer.hpp"

namespace mantissa {

StoredTensor StoredTensor::codes(std::span<const std::uint8_t> codes, const Format& format, int scale) {
  if (format.bits() > 8) throw std::invalid_argument("codes of " + format.name() + " have more than 8 bits");
  Codes elements{.codes = codes, .bits = format.bits(), .values = {}};
  std::vector<std::uint8_t> all(std::size_t{1} << format.bits());
  for (std::size_t code = 0; code < all.size(); ++code) all[code] = static_cast<std::uint8_t>(code);
  elements.values.resize(all.size());
  dequantize<std::uint8_t>(all, {.to = format, .scale = scale}, elements.values);
  return StoredTensor(std::move(elements));
}

int StoredTensor::bits() const {
  if (const auto* codes = std::get_if<Codes>(&elements_)) return codes->bits;
  if (const auto* integers = std::get_if<Integers>(&elements_)) return integers->range.bits;
  return formats::fp32.bits();
}

std::int64_t StoredTensor::size() const {
  if (const auto* codes = std::get_if<Codes>(&elements_)) return std::ssize(codes->codes);
  if (const auto* integers = std::get_if<Integers>(&elements_)) return std::ssize(integers->integers);
  return std::ssize(std::get<Fp32>(elements_).values);
}

std::uint32_t StoredTensor::element(std::int64_t index) const {
  if (const auto* codes = std::get_if<Codes>(&elements_)) return codes->codes[index];
  if (const auto* integers = std::get_if<Integers>(&elements_)) return integers->integers[index];
  return fp32_bits(std::get<Fp32>(elements_).values[index]);
}

float StoredTensor::value(std::uint32_t element) const {
  if (const auto* codes = std::get_if<Codes>(&elements_)) return codes->values[element];
  if (const auto* integers = std::get_if<Integers>(&elements_))
    return gemmlowp_dequantize(static_cast<std::uint16_t>(element), integers->range);
  return fp32_value(element);
}

}  // namespace mantissa
