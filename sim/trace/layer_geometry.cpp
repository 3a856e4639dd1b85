#include "sim/trace/layer_geometry.hpp"

#include <stdexcept>

namespace mantissa::trace {
namespace {

double real(std::int64_t size) { return static_cast<double>(size); }

// Pairs of an input place and a kernel tap that meet an output place of the strided grid, which may lie in
// the padding.
double places_with_taps(const ConvShape& g, int axis) {
  double pairs = 0;
  for (std::int64_t tap = 0; tap < g.kernel[axis]; ++tap) {
    const std::int64_t stride = g.stride[axis];
    const std::int64_t ahead = tap * g.dilation[axis] - g.padding[axis];
    // The least place h with (h - ahead) / stride whole.
    const std::int64_t first = ((ahead % stride) + stride) % stride;
    if (first < g.in[axis]) pairs += real((g.in[axis] - 1 - first) / stride + 1);
  }
  return pairs;
}

}  // namespace

ConvShape geometry_of(const Layer& layer, const std::vector<std::int64_t>& input,
                      const std::vector<std::int64_t>& weight) {
  ConvShape g;
  g.out_channels = weight[0];
  if (layer.kind == LayerKind::linear) {
    g.in_channels = weight[1];
    for (std::size_t i = 0; i + 1 < input.size(); ++i) g.batch *= input[i];
    return g;
  }
  g.batch = input[0];
  g.in_channels = input[1];
  g.groups = layer.groups;
  g.stride = layer.stride;
  g.padding = layer.padding;
  g.dilation = layer.dilation;
  for (int axis = 0; axis < 2; ++axis) {
    g.in[axis] = input[2 + axis];
    g.kernel[axis] = weight[2 + axis];
  }
  g.out = g.fitting_out();
  return g;
}

std::optional<ConvShape> geometry_of(const Trace& trace, std::uint32_t step, const Layer& layer) {
  if (trace.find(step, layer, Role::input) == nullptr || trace.find(step, layer, Role::weight) == nullptr) {
    return std::nullopt;
  }
  return geometry_of(layer, trace.shape(step, layer, Role::input), trace.shape(step, layer, Role::weight));
}

std::optional<NormShape> norm_shape_of(const Trace& trace, std::uint32_t step, const Layer& layer) {
  if (multiplies(layer.kind) || trace.find(step, layer, Role::input) == nullptr) return std::nullopt;
  const std::vector<std::int64_t>& sizes = trace.shape(step, layer, Role::input);
  NormShape shape{.batch = sizes[0], .channels = sizes[1]};
  for (std::size_t i = 2; i < sizes.size(); ++i) shape.spatial *= sizes[i];
  return shape;
}

double macs_of(const ConvShape& g, Pass pass) {
  const double channels = real(g.groups) * real(g.in_group()) * real(g.out_group());
  const auto in_both = [](const auto& of_axis) { return of_axis(0) * of_axis(1); };
  switch (pass) {
    case Pass::forward:
    case Pass::weight_gradient:
      return real(g.batch) * channels *
             in_both([&](int axis) { return real(g.out[axis]) * real(g.kernel[axis]); });
    case Pass::input_gradient:
      return real(g.batch) * channels * in_both([&](int axis) { return places_with_taps(g, axis); });
    case Pass::update:
      break;
  }
  throw std::invalid_argument("the update multiplies nothing");
}

double macs_of(const Trace& trace, Pass pass) {
  double macs = 0;
  for (const std::uint32_t step : trace.steps()) {
    for (const Layer& layer : trace.layers()) {
      const bool backward = trace.find(step, layer, Role::grad_output) != nullptr;
      if (!multiplies(layer.kind) || (pass != Pass::forward && !backward)) continue;
      if (pass == Pass::input_gradient && !layer.input_gradient) continue;
      if (const std::optional<ConvShape> geometry = geometry_of(trace, step, layer))
        macs += macs_of(*geometry, pass);
    }
  }
  return macs;
}

}  // namespace mantissa::trace
