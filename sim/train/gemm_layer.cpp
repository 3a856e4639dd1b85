#include "sim/train/gemm_layer.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/kernels/drain.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/bias_gradient.hpp"
#include "models/tensor/products.hpp"
#include "models/tensor/scale_values.hpp"

namespace mantissa::train {
namespace {

// Results of a pass as a tensor: (batch, spatial) are the rows of the product, channels its columns.
NormShape result_shape(const ConvShape& shape, Pass pass) {
  switch (pass) {
    case Pass::forward:
      return {shape.batch, shape.out_channels, shape.out[0] * shape.out[1]};
    case Pass::input_gradient:
      return {shape.batch, shape.in_channels, shape.in[0] * shape.in[1]};
    case Pass::weight_gradient:
      return {shape.out_channels, shape.weights() / shape.out_channels, 1};
    case Pass::update:
      break;
  }
  throw std::logic_error("an update has no product");
}

// The bias in the scale of the sums.
void add_bias(const ConvShape& shape, std::vector<float> bias, int scale, std::span<float> sums) {
  if (scale != 0) scale_values(bias, scale, bias);
  const std::int64_t spatial = shape.out[0] * shape.out[1];
  float* sum = sums.data();
  for (std::int64_t image = 0; image < shape.batch; ++image) {
    for (const float each : bias) {
      for (std::int64_t i = 0; i < spatial; ++i, ++sum) *sum = f32::add(*sum, each);
    }
  }
}

}  // namespace

ConvShape conv_shape(const Node& node, std::int64_t batch) {
  ConvShape shape;
  shape.batch = batch;
  shape.out_channels = node.out;
  if (node.kind == NodeKind::linear) {
    shape.in_channels = node.in_shape.elements();
    return shape;
  }
  shape.in_channels = node.in_shape.channels;
  shape.in = {node.in_shape.height, node.in_shape.width};
  shape.out = {node.out_shape.height, node.out_shape.width};
  shape.kernel = {node.kernel, node.kernel};
  shape.stride = {node.stride, node.stride};
  shape.padding = {node.padding, node.padding};
  return shape;
}

void GemmLayer::encode(const Step& step, const OperandSite& site, const Tensor& source,
                       ConversionCounts& counts, EncodedTensor& result) {
  plan_.encode(step, site, source.values, result, held_as_numbers(source, step.count ? &counts : nullptr));
}

void GemmLayer::forward(const Step& step, const Tensor& x, const Tensor& weight, std::span<const float> bias,
                        Tensor& y) {
  shape_ = conv_shape(node_, static_cast<std::int64_t>(x.values.size()) / node_.in_shape.elements());
  encode(step, plan_.input(), x, counts_.activations, x_);
  encode(step, plan_.weight(), weight, counts_.weights, weight_);
  y.values.resize(shape_.outputs());
  run_pass(step, Pass::forward, x_, weight_, bias, counts_.activations, y);
}

const Tensor& GemmLayer::pruned(const Step& step, const Tensor& g) {
  const std::optional<PruneCounts> met = plan_.prune(step, g.values, pruned_.values);
  if (!met) return g;
  counts_.pruned += *met;
  counts_.recent += *met;
  counts_.aimed_at += plan_.registers.target * static_cast<double>(met->elements());
  return pruned_;
}

void GemmLayer::backward(const Step& step, const Tensor& g, const Gradients& gradients) {
  const Tensor& error = pruned(step, g);
  encode(step, plan_.error(), error, counts_.errors, g_);
  if (gradients.x != nullptr) {
    gradients.x->values.resize(shape_.inputs());
    run_pass(step, Pass::input_gradient, g_, weight_, {}, counts_.errors, *gradients.x);
  }
  const EncodedTensor* copy = &g_;
  if (const std::optional<OperandSite> site = plan_.error_for_weights()) {
    encode(step, *site, error, counts_.errors, g_for_weights_);
    copy = &g_for_weights_;
  }
  weight_gradient_.values.resize(gradients.weight.size());
  run_pass(step, Pass::weight_gradient, *copy, x_, {}, counts_.weight_gradients, weight_gradient_);
  std::copy(weight_gradient_.values.begin(), weight_gradient_.values.end(), gradients.weight.begin());
  if (!gradients.bias.empty()) {
    const std::vector<float> sums =
        bias_gradient(error.values, shape_.out_channels, shape_.out[0] * shape_.out[1]);
    std::copy(sums.begin(), sums.end(), gradients.bias.begin());
  }
}

void GemmLayer::run_pass(const Step& step, Pass pass, const EncodedTensor& first, const EncodedTensor& second,
                         std::span<const float> bias, ConversionCounts& counts, Tensor& result) {
  result.grid.reset();
  conv(shape_, pass, first, second,
       {.accumulator = plan_.accumulator(),
        .rows = step.rows,
        .draws = plan_.draws(step, pass, RandomUnit::accumulator)},
       result.values, step.threads);
  const int from = first.scale() + second.scale();
  if (!bias.empty()) add_bias(shape_, {bias.begin(), bias.end()}, from, result.values);
  drain(step, pass, from, counts, result);
}

void GemmLayer::drain(const Step& step, Pass pass, int from, ConversionCounts& counts, Tensor& result) {
  const Role role = result_role(pass);
  const std::optional<TensorFormat> format = plan_.drain(role);
  if (!format) return;  // results stay FP32
  const int scale = plan_.scale(step, role, *format, result.values, from);
  kernels::drain<float>(result.values, result_shape(shape_, pass),
                        plan_.drain_conversion(step, *format, scale - from),
                        plan_.draws(step, pass, RandomUnit::drain_quantizer), {.rows = step.rows},
                        result.values, step.threads, step.count ? &counts : nullptr);
  // The drain gives code * 2^-(scale - from), the number is code * 2^-scale.
  if (from != 0) scale_values(result.values, -from, result.values);
  result.grid = Grid{format->type.format(), scale};
}

}  // namespace mantissa::train
