#include "sim/train/layer_recipe.hpp"

#include <algorithm>
#include <cmath>

#include "models/quantize/quantizer.hpp"
#include "sim/recipe/scale_exponent.hpp"

namespace mantissa::train {

int LayerRecipe::scale_for(trace::Role tensor, const TensorFormat& how, std::span<const float> values,
                           int from, const Step& step) {
  int& exponent = scale.at(static_cast<std::size_t>(tensor));
  if (how.scale == TensorFormat::Scale::fixed) {
    exponent = how.scale_exponent;
  } else if (how.scale == TensorFormat::Scale::max || step.refresh) {
    exponent = std::clamp(scale_exponent(how, 0, values) + from, min_quantizer_scale, max_quantizer_scale);
  }
  return exponent;
}

void LayerRecipe::follow_loss_scale(int exponent) {
  if (tau) tau = std::ldexp(*tau, exponent);
  for (const trace::Role role :
       {trace::Role::grad_output, trace::Role::grad_input, trace::Role::grad_weight}) {
    int& register_of = scale.at(static_cast<std::size_t>(role));
    register_of = std::clamp(register_of - exponent, min_quantizer_scale, max_quantizer_scale);
  }
}

}  // namespace mantissa::train
