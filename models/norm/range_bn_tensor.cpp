#include "models/norm/range_bn_tensor.hpp"

#include <algorithm>

#include "models/quantize/gemmlowp.hpp"

namespace mantissa {
namespace {

std::vector<float> gather(std::span<const float> tensor, const NormShape& shape, std::int64_t channel) {
  std::vector<float> stream;
  stream.reserve(shape.per_channel());
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const auto run = tensor.subspan(shape.run_begin(b, channel), shape.spatial);
    stream.insert(stream.end(), run.begin(), run.end());
  }
  return stream;
}

void scatter(std::span<const float> stream, const NormShape& shape, std::int64_t channel,
             std::span<float> tensor) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const auto run = stream.subspan(b * shape.spatial, shape.spatial);
    std::copy(run.begin(), run.end(), tensor.begin() + shape.run_begin(b, channel));
  }
}

// An operand on its way into the unit: as it is, or through 8 bits and back.
class OperandPath {
 public:
  explicit OperandPath(NormPrecision precision) : precision_(precision) {}

  std::vector<float> take(std::span<const float> values, Rounding rounding, const DrawSource& draws) {
    std::vector<float> used(values.begin(), values.end());
    if (precision_ == NormPrecision::fp32) return used;
    const GemmlowpRange range = GemmlowpRange::of(values, 8);
    std::vector<std::uint16_t> codes(values.size());
    invalid_ += gemmlowp_quantize(values, range, rounding, draws, codes);
    gemmlowp_dequantize(codes, range, used);
    return used;
  }
  std::vector<float> take(std::span<const float> values) { return take(values, Rounding::rne(), {}); }

  std::uint64_t invalid() const { return invalid_; }

 private:
  NormPrecision precision_;
  std::uint64_t invalid_ = 0;
};

}  // namespace

RangeBnTensorSaved range_bn_tensor_forward(std::span<const float> x, const NormShape& shape,
                                           std::span<const float> gamma, std::span<const float> beta,
                                           const RangeBnTensorConfig& config, std::span<float> y) {
  check_elements("x", x.size(), shape);
  check_elements("y", y.size(), shape);
  check_per_channel("gamma", gamma.size(), shape);
  check_per_channel("beta", beta.size(), shape);

  OperandPath operands(config.precision);
  RangeBnTensorSaved saved;
  saved.shape = shape;
  saved.config = config;
  saved.x = operands.take(x);
  saved.gamma = operands.take(gamma);
  saved.beta = operands.take(beta);

  std::vector<float> inv;
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    saved.channels.push_back(range_bn_statistics(gather(saved.x, shape, c), config.channel));
    inv.push_back(saved.channels.back().inv);
  }
  if (config.precision == NormPrecision::int8) saved.inv_range = GemmlowpRange::of(inv, 8);
  inv = operands.take(inv);
  saved.invalid = operands.invalid();

  std::vector<float> stream(shape.per_channel());
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    saved.channels[c].inv = inv[c];
    normalise(gather(saved.x, shape, c), saved.channels[c].mean, inv[c], saved.gamma[c], saved.beta[c],
              stream);
    scatter(stream, shape, c, y);
  }
  return saved;
}

RangeBnTensorGradients range_bn_tensor_backward(const RangeBnTensorSaved& saved, std::span<const float> g,
                                                const DrawSource& draws, std::span<float> dx) {
  const NormShape& shape = saved.shape;
  check_elements("the saved x", saved.x.size(), shape);
  check_per_channel("the saved gamma", saved.gamma.size(), shape);
  check_per_channel("the saved statistics", saved.channels.size(), shape);
  check_elements("g", g.size(), shape);
  check_elements("dx", dx.size(), shape);

  OperandPath operands(saved.config.precision);
  const std::vector<float> g_used = operands.take(g, saved.config.gradient_rounding, draws);
  RangeBnTensorGradients gradients;
  gradients.invalid = operands.invalid();
  std::vector<float> stream(shape.per_channel());
  for (std::int64_t c = 0; c < shape.channels; ++c) {
    const RangeBnGradients channel =
        range_bn_backward(gather(saved.x, shape, c), gather(g_used, shape, c), saved.gamma[c],
                          saved.channels[c], saved.config.channel, stream);
    scatter(stream, shape, c, dx);
    gradients.gamma.push_back(channel.gamma);
    gradients.beta.push_back(channel.beta);
    gradients.corrections.push_back(channel.correction);
  }
  return gradients;
}

}  // namespace mantissa
