#include "models/tensor/encode.hpp"

#include <stdexcept>

#include "models/kernels/drain.hpp"
#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/quantize.hpp"
#include "models/tensor/scale_values.hpp"

namespace mantissa {
namespace {

void encode_integers(std::span<const float> numbers, const Encoding& how, const DrawSource& draws,
                     EncodedTensor::Integers& form, const EncodeOptions& options) {
  form.range = kernels::gemmlowp_range(numbers, how.type.bits(), options.threads);
  if (how.exact_zero) form.range = form.range.with_zero();
  kernels::gemmlowp_quantize(numbers, form.range, how.rounding, draws, form.q.make(numbers.size()),
                             options.threads);
}

void encode_codes(std::span<const float> numbers, const Encoding& how, const DrawSource& draws,
                  EncodedTensor::Codes& form, const EncodeOptions& options) {
  form.format = how.type.format();
  form.scale = how.scale;
  form.decoded = options.decoded;
  if (form.format.bits() > 8)
    throw std::invalid_argument("codes of " + form.format.name() + " have more than 8 bits");
  if (!form.decoded) {
    kernels::quantize<std::uint8_t>(numbers, how.conversion(), draws, form.codes.make(numbers.size()),
                                    options.threads, options.counts);
    return;
  }
  const bool there = options.on == Grid{form.format, form.scale};
  if (there && form.scale == 0) {
    form.values.look_at(numbers);
    return;
  }
  const std::span<float> values = form.values.make(numbers.size());
  if (!there)
    kernels::round_values(numbers, how.conversion(), draws, values, options.threads, options.counts);
  if (form.scale == 0) return;
  scale_values(there ? numbers : std::span<const float>(values), form.scale, values);
}

}  // namespace

void encode(std::span<const float> numbers, const Encoding& how, const DrawSource& draws,
            EncodedTensor& tensor, const EncodeOptions& options) {
  if (how.type.is_integer()) {
    encode_integers(numbers, how, draws, tensor.become<EncodedTensor::Integers>(), options);
  } else if (how.type.is_code()) {
    encode_codes(numbers, how, draws, tensor.become<EncodedTensor::Codes>(), options);
  } else {
    tensor.become<EncodedTensor::Fp32>().values.look_at(numbers);
  }
}

}  // namespace mantissa
