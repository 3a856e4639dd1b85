#include "models/tensor/encoded_tensor.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/quantize.hpp"
#include "models/tensor/scale_values.hpp"

namespace mantissa {
namespace {

void check_width(const Format& format) {
  if (format.bits() > 8) throw std::invalid_argument("codes of " + format.name() + " have more than 8 bits");
}

}  // namespace

std::span<const std::uint8_t> EncodedTensor::Codes::as_codes(std::vector<std::uint8_t>& storage,
                                                             int threads) const {
  if (!decoded) return codes.get();
  storage.resize(values.get().size());
  kernels::quantize<std::uint8_t>(values.get(), {.to = format}, {}, storage, threads);
  return storage;
}

std::span<const float> EncodedTensor::Codes::as_values(std::vector<float>& storage, int threads) const {
  if (decoded) return values.get();
  storage.resize(codes.get().size());
  kernels::dequantize(codes.get(), {.to = format}, storage, threads);
  return storage;
}

EncodedTensor EncodedTensor::fp32(std::span<const float> values) {
  Fp32 form;
  form.values.look_at(values);
  return EncodedTensor(std::move(form));
}

EncodedTensor EncodedTensor::codes(std::span<const std::uint8_t> codes, const Format& format, int scale) {
  check_width(format);
  Codes form{.format = format, .scale = scale};
  form.codes.look_at(codes);
  return EncodedTensor(std::move(form));
}

EncodedTensor EncodedTensor::integers(std::span<const std::uint16_t> q, const GemmlowpRange& range) {
  Integers form{.range = range};
  form.q.look_at(q);
  return EncodedTensor(std::move(form));
}

ElementType EncodedTensor::type() const {
  return visit(Overloaded{[](const Fp32&) { return ElementType(); },
                          [](const Codes& form) { return ElementType(form.format); },
                          [](const Integers& form) { return ElementType::integer(form.range.bits); }});
}

std::size_t EncodedTensor::size() const {
  return visit(Overloaded{
      [](const Fp32& form) { return form.values.get().size(); },
      [](const Codes& form) { return form.decoded ? form.values.get().size() : form.codes.get().size(); },
      [](const Integers& form) { return form.q.get().size(); }});
}

int EncodedTensor::scale() const {
  const auto* codes = std::get_if<Codes>(&form_);
  return codes != nullptr ? codes->scale : 0;
}

std::uint32_t EncodedTensor::element(std::int64_t index) const {
  return visit(Overloaded{[&](const Fp32& form) { return fp32_bits(form.values.get()[index]); },
                          [&](const Codes& form) -> std::uint32_t {
                            if (!form.decoded) return form.codes.get()[index];
                            return convert(fp32_bits(form.values.get()[index]), {.to = form.format}).code;
                          },
                          [&](const Integers& form) -> std::uint32_t { return form.q.get()[index]; }});
}

void EncodedTensor::decode(std::span<float> numbers, int threads) const {
  visit(Overloaded{[&](const Fp32& form) {
                     std::copy(form.values.get().begin(), form.values.get().end(), numbers.begin());
                   },
                   [&](const Codes& form) {
                     if (form.decoded) {
                       scale_values(form.values.get(), -form.scale, numbers);
                     } else {
                       kernels::dequantize(form.codes.get(), {.to = form.format, .scale = form.scale},
                                           numbers, threads);
                     }
                   },
                   [&](const Integers& form) {
                     kernels::gemmlowp_dequantize(form.q.get(), form.range, numbers, threads);
                   }});
}

std::span<const float> EncodedTensor::numbers(std::vector<float>& storage, int threads) const {
  if (const auto* fp32 = std::get_if<Fp32>(&form_)) return fp32->values.get();
  if (const auto* codes = std::get_if<Codes>(&form_); codes != nullptr && codes->decoded && codes->scale == 0)
    return codes->values.get();
  storage.resize(size());
  decode(storage, threads);
  return storage;
}

ElementDecoder::ElementDecoder(const EncodedTensor& tensor) {
  tensor.visit(Overloaded{[](const EncodedTensor::Fp32&) {},
                          [&](const EncodedTensor::Codes& form) {
                            check_width(form.format);
                            std::vector<std::uint8_t> all(std::size_t{1} << form.format.bits());
                            std::iota(all.begin(), all.end(), std::uint8_t{0});
                            table_.resize(all.size());
                            dequantize<std::uint8_t>(all, {.to = form.format, .scale = form.scale}, table_);
                          },
                          [&](const EncodedTensor::Integers& form) { integers_ = form.range; }});
}

float ElementDecoder::operator()(std::uint32_t element) const {
  if (!table_.empty()) return table_[element];
  if (const auto* range = std::get_if<GemmlowpRange>(&integers_))
    return gemmlowp_dequantize(static_cast<std::uint16_t>(element), *range);
  return fp32_value(element);
}

}  // namespace mantissa
