#include "sim/train/quantized_tensor.hpp"

#include <algorithm>
#include <cmath>

#include "models/kernels/drain.hpp"
#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/quantize.hpp"

namespace mantissa::train {
void scale_values(std::span<const float> in, int exponent, std::span<float> out) {
  const auto factor = static_cast<float>(std::ldexp(1.0, exponent));
  std::transform(in.begin(), in.end(), out.begin(), [factor](float x) { return x * factor; });
}

Rounding rounding_in(const Step& step, const Rounding& rounding) {
  return !step.training && rounding.stochastic() ? Rounding::rne() : rounding;
}

Conversion conversion_of(const TensorFormat& how, int scale, const Step& step) {
  return {.to = how.format,
          .rounding = rounding_in(step, how.rounding),
          .overflow = how.overflow,
          .via_fp16 = how.via_fp16,
          .scale = scale};
}

void QuantizedTensor::assign(const Tensor& source, const Rule& rule, const Step& step,
                             ConversionCounts& counts) {
  values_ = source.values;
  scale_ = 0;
  if (rule.arithmetic == Arithmetic::floating) {
    assign_codes(source, rule, step, counts);
  } else if (rule.arithmetic == Arithmetic::gemmlowp) {
    range_ = kernels::gemmlowp_range(source.values, rule.how.bits, step.threads);
    if (rule.how.exact_zero) range_ = range_.with_zero();
    integers_.resize(source.values.size());
    kernels::gemmlowp_quantize(source.values, range_, rounding_in(step, rule.how.rounding), rule.draws,
                               integers_, step.threads);
  }
}

void QuantizedTensor::assign_codes(const Tensor& source, const Rule& rule, const Step& step,
                                   ConversionCounts& counts) {
  format_ = rule.how.format;
  scale_ = rule.scale;
  const bool there = source.grid == Grid{format_, scale_};
  if (there && scale_ == 0) return;
  storage_.resize(source.values.size());
  values_ = storage_;
  if (!there) {
    ConversionCounts met;
    kernels::round_values(source.values, conversion_of(rule.how, scale_, step), rule.draws, storage_,
                          step.threads, step.count ? &met : nullptr);
    counts += met;
    if (scale_ == 0) return;
  }
  scale_values(there ? std::span<const float>(source.values) : storage_, scale_, storage_);
}

std::span<const float> QuantizedTensor::numbers(std::vector<float>& storage) const {
  if (scale_ == 0) return values_;
  storage.resize(values_.size());
  scale_values(values_, -scale_, storage);
  return storage;
}

kernels::IntTensor QuantizedTensor::matrix() const {
  return {.values = {.q = integers_, .bits = range_.bits, .scale = range_.scale, .min = range_.min},
          .zero = gemmlowp_quantize(0.0F, range_, Rounding::rne()).q};
}

std::vector<std::uint8_t> QuantizedTensor::codes() const {
  std::vector<std::uint8_t> codes(values_.size());
  kernels::quantize<std::uint8_t>(values_, {.to = format_}, {}, codes);
  return codes;
}

}  // namespace mantissa::train
