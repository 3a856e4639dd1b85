#include "sim/train/gemm_layer.hpp"

#include <algorithm>

#include "models/kernels/conv.hpp"
#include "models/kernels/drain.hpp"
#include "models/kernels/gemm.hpp"
#include "models/kernels/int_conv.hpp"
#include "models/kernels/prune.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/bias_gradient.hpp"
#include "models/mac/lowering.hpp"
#include "models/mac/stream_id.hpp"
#include "models/sparsity/lognormal.hpp"

namespace mantissa::train {
namespace {

// Products of codes are exact in FP32, so sums in FP32, rounded to nearest, are one fused operation each.
bool sums_in_fp32(const Accumulator& accumulator) {
  return accumulator.kind == Accumulator::Kind::plain && accumulator.format == formats::fp32 &&
         accumulator.rounding == Rounding::rne();
}

// Results of a pass as a tensor: (batch, spatial) are the rows of the product, channels its columns.
NormShape result_shape(const ConvShape& shape, Pass pass) {
  switch (pass) {
    case Pass::forward:
      return {shape.batch, shape.out_channels, shape.out[0] * shape.out[1]};
    case Pass::input_gradient:
      return {shape.batch, shape.in_channels, shape.in[0] * shape.in[1]};
    default:
      return {shape.out_channels, shape.weights() / shape.out_channels, 1};
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

GemmLayer::GemmLayer(const Recipe& recipe, Node node, LayerRecipe layer)
    : recipe_(&recipe), node_(std::move(node)), layer_(std::move(layer)) {}

void GemmLayer::quantize(const Step& step, const Tensor& source, trace::Role role, const TensorFormat& how,
                         Pass pass, Operand side, ConversionCounts& counts, QuantizedTensor& result) {
  const auto unit = layer_.arithmetic == Arithmetic::gemmlowp ? RandomUnit::gemmlowp_quantizer
                                                              : RandomUnit::tensor_quantizer;
  const int scale =
      layer_.arithmetic == Arithmetic::floating ? layer_.scale_for(role, how, source.values, 0, step) : 0;
  result.assign(source, {layer_.arithmetic, how, scale, step.draws(layer_.index, pass, unit, side)}, step,
                counts);
}

void GemmLayer::forward(const Step& step, const Tensor& x, const Tensor& weight, std::span<const float> bias,
                        Tensor& y) {
  shape_ = conv_shape(node_, static_cast<std::int64_t>(x.values.size()) / node_.in_shape.elements());
  quantize(step, x, trace::Role::input, recipe_->activations, Pass::forward, Operand::a, counts_.activations,
           x_);
  quantize(step, weight, trace::Role::weight, recipe_->weights, Pass::forward, Operand::b, counts_.weights,
           weight_);
  y.values.resize(shape_.outputs());
  y.grid.reset();
  const Operands operands{x_, weight_};
  multiply(step, Pass::forward, operands, y.values);
  if (!bias.empty()) add_bias(bias, x_.scale() + weight_.scale(), y.values);
  drain(step, Pass::forward, trace::Role::output, operands, recipe_->activations, counts_.activations, y);
}

const Tensor& GemmLayer::pruned(const Step& step, const Tensor& g) {
  if (!layer_.tau) return g;
  const Pruner pruner{.tau = tau_code(*layer_.tau, formats::fp32),
                      .random_bits = recipe_->pruning->random_bits};
  pruned_.values.resize(g.values.size());
  const PruneCounts met =
      kernels::prune(g.values, pruner, step.draws(layer_.index, Pass::input_gradient, RandomUnit::pruner),
                     pruned_.values, {}, step.threads);
  counts_.pruned += met;
  counts_.recent += met;
  counts_.aimed_at += layer_.target * static_cast<double>(met.elements());
  return pruned_;
}

void GemmLayer::backward(const Step& step, const Tensor& g, const Gradients& gradients) {
  const Tensor& error = pruned(step, g);
  quantize(step, error, trace::Role::grad_output, layer_.errors, Pass::input_gradient, Operand::a,
           counts_.errors, g_);
  if (gradients.x != nullptr) {
    gradients.x->values.resize(shape_.inputs());
    gradients.x->grid.reset();
    const Operands operands{g_, weight_};
    multiply(step, Pass::input_gradient, operands, gradients.x->values);
    drain(step, Pass::input_gradient, trace::Role::grad_input, operands, recipe_->errors, counts_.errors,
          *gradients.x);
  }
  const QuantizedTensor* copy = &g_;
  if (recipe_->errors_for_weights && layer_.arithmetic != Arithmetic::fp32) {
    quantize(step, error, trace::Role::grad_output, *recipe_->errors_for_weights, Pass::weight_gradient,
             Operand::a, counts_.errors, g_for_weights_);
    copy = &g_for_weights_;
  }
  weight_gradient_.values.resize(gradients.weight.size());
  const Operands operands{*copy, x_};
  multiply(step, Pass::weight_gradient, operands, weight_gradient_.values);
  drain(step, Pass::weight_gradient, trace::Role::grad_weight, operands, recipe_->weight_gradients,
        counts_.weight_gradients, weight_gradient_);
  std::copy(weight_gradient_.values.begin(), weight_gradient_.values.end(), gradients.weight.begin());
  if (!gradients.bias.empty()) {
    const std::vector<float> sums =
        bias_gradient(error.values, shape_.out_channels, shape_.out[0] * shape_.out[1]);
    std::copy(sums.begin(), sums.end(), gradients.bias.begin());
  }
}

void GemmLayer::multiply(const Step& step, Pass pass, const Operands& operands, std::span<float> sums) {
  const auto& [first, second] = operands;
  if (layer_.arithmetic == Arithmetic::gemmlowp) {
    const kernels::IntTensor a = first.matrix();
    const kernels::IntTensor b = second.matrix();
    if (pass == Pass::forward) {
      kernels::int_conv_forward(shape_, a, b, sums, step.threads);
    } else if (pass == Pass::input_gradient) {
      kernels::int_conv_input_gradient(shape_, a, b, sums, step.threads);
    } else {
      kernels::int_conv_weight_gradient(shape_, a, b, sums, step.threads);
    }
  } else if (layer_.arithmetic == Arithmetic::floating && !sums_in_fp32(recipe_->accumulator)) {
    multiply_codes(step, pass, operands, sums);
  } else if (pass == Pass::forward) {
    kernels::conv_forward(shape_, first.values(), second.values(), sums, step.threads);
  } else if (pass == Pass::input_gradient) {
    kernels::conv_input_gradient(shape_, first.values(), second.values(), sums, step.threads);
  } else {
    kernels::conv_weight_gradient(shape_, first.values(), second.values(), sums, step.threads);
  }
}

// Other accumulators: the lowered matrices of ARITHMETIC.md 4 through the GEMM kernels that have them all.
void GemmLayer::multiply_codes(const Step& step, Pass pass, const Operands& operands,
                               std::span<float> sums) const {
  const auto& [first, second] = operands;
  const auto [m, n, k] = sides_of(shape_, pass);
  std::vector<std::uint8_t> a(m * k);
  std::vector<std::uint8_t> b(k * n);
  lower_a<std::uint8_t>(shape_, pass, 0, {0, m, 0, k}, first.codes(), 0, a, step.threads);
  lower_b<std::uint8_t>(shape_, pass, 0, {0, k, 0, n}, second.codes(), 0, b, step.threads);
  std::vector<float> product(m * n);
  kernels::gemm({m, n, k, a, b, first.format(), second.format()},
                {.accumulator = recipe_->accumulator,
                 .rows = step.rows,
                 .draws = step.draws(layer_.index, pass, RandomUnit::accumulator)},
                product, step.threads);
  const auto [batch, channels, spatial] = result_shape(shape_, pass);
  for (std::int64_t i = 0; i < batch; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t s = 0; s < spatial; ++s)
        sums[(i * channels + c) * spatial + s] = product[(i * spatial + s) * channels + c];
    }
  }
}

void GemmLayer::add_bias(std::span<const float> bias, int scale, std::span<float> sums) const {
  std::vector<float> scaled(bias.begin(), bias.end());
  if (scale != 0) scale_values(bias, scale, scaled);
  const std::int64_t spatial = shape_.out[0] * shape_.out[1];
  float* sum = sums.data();
  for (std::int64_t image = 0; image < shape_.batch; ++image) {
    for (const float each : scaled) {
      for (std::int64_t i = 0; i < spatial; ++i, ++sum) *sum = f32::add(*sum, each);
    }
  }
}

void GemmLayer::drain(const Step& step, Pass pass, trace::Role role, const Operands& operands,
                      const TensorFormat& how, ConversionCounts& counts, Tensor& result) {
  if (layer_.arithmetic != Arithmetic::floating) return;  // results stay FP32
  const int from = operands.first.scale() + operands.second.scale();
  const int scale = layer_.scale_for(role, how, result.values, from, step);
  ConversionCounts met;
  kernels::drain_values(result.values, result_shape(shape_, pass), conversion_of(how, scale - from, step),
                        step.draws(layer_.index, pass, RandomUnit::drain_quantizer), {.rows = step.rows},
                        result.values, step.threads, step.count ? &met : nullptr);
  counts += met;
  // The drain gives code * 2^-(scale - from), the number is code * 2^-scale.
  if (from != 0) scale_values(result.values, -from, result.values);
  result.grid = Grid{how.format, scale};
}

}  // namespace mantissa::train
