// A tensor as the multipliers see it: pruned, scaled and quantized as its class of the recipe says.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/kernels/int_conv.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/train/step.hpp"
#include "sim/train/tensor.hpp"

namespace mantissa::train {

class QuantizedTensor {
 public:
  QuantizedTensor() = default;
  QuantizedTensor(const QuantizedTensor&) = delete;
  QuantizedTensor& operator=(const QuantizedTensor&) = delete;
  QuantizedTensor(QuantizedTensor&&) noexcept = default;
  QuantizedTensor& operator=(QuantizedTensor&&) noexcept = default;
  ~QuantizedTensor() = default;

  // What the quantizer does: codes of x * 2^scale (floating), integers between minimum and maximum
  // (gemmlowp), nothing (fp32).
  struct Rule {
    Arithmetic arithmetic = Arithmetic::fp32;
    const TensorFormat& how;
    int scale = 0;
    DrawSource draws = {};
  };
  // `source` must outlive this where nothing has to be changed: then it is looked at, not copied.
  void assign(const Tensor& source, const Rule& rule, const Step& step, ConversionCounts& counts);

  // FP32 numbers; of codes what they stand for, times 2^scale().
  std::span<const float> values() const { return values_; }
  int scale() const { return scale_; }
  // The numbers themselves, in `storage` where they are not there already.
  std::span<const float> numbers(std::vector<float>& storage) const;
  // Of arithmetic gemmlowp.
  kernels::IntTensor matrix() const;
  // Of arithmetic floating, for accumulators that take codes.
  std::vector<std::uint8_t> codes() const;
  const Format& format() const { return format_; }

 private:
  void assign_codes(const Tensor& source, const Rule& rule, const Step& step, ConversionCounts& counts);

  std::span<const float> values_;
  std::vector<float> storage_;
  std::vector<std::uint16_t> integers_;
  GemmlowpRange range_;
  Format format_ = formats::fp32;
  int scale_ = 0;
};

// How a class of tensors is rounded in this step: as the recipe says, but nothing is drawn in validation.
Rounding rounding_in(const Step& step, const Rounding& rounding);
Conversion conversion_of(const TensorFormat& how, int scale, const Step& step);
// out = in * 2^exponent, exact for numbers on a grid of 8 bits.
void scale_values(std::span<const float> in, int exponent, std::span<float> out);

}  // namespace mantissa::train
