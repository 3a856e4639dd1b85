#include "testbench/models/kernels/conv_cases.hpp"

namespace mantissa::test {

ConvShape fitted(ConvShape shape) {
  shape.out = shape.fitting_out();
  return shape;
}

ConvShape random_shape(Random& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (;;) {
    ConvShape s;
    s.batch = pick(1, 4);
    s.groups = pick(0, 3) == 0 ? pick(2, 3) : 1;
    s.in_channels = s.groups * pick(1, s.groups == 1 ? 33 : 6);
    s.out_channels = s.groups * pick(1, s.groups == 1 ? 33 : 6);
    bool fits = true;
    for (int axis = 0; axis < 2; ++axis) {
      s.in[axis] = pick(1, 17);
      s.kernel[axis] = pick(1, 5);
      s.stride[axis] = pick(0, 3) == 0 ? 3 : pick(1, 2);
      s.padding[axis] = pick(0, 4);
      s.dilation[axis] = pick(0, 2) == 0 ? pick(2, 3) : 1;
      fits = fits && s.dilation[axis] * (s.kernel[axis] - 1) < s.in[axis] + 2 * s.padding[axis];
    }
    if (!fits) continue;
    s = fitted(s);
    if (s.outputs() * s.in_group() * s.kernel[0] * s.kernel[1] < 200'000) return s;
  }
}

std::vector<ConvShape> usual_shapes() {
  const auto conv = [](std::int64_t batch, std::int64_t in, std::int64_t out, std::int64_t size,
                       std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
    return fitted({.batch = batch,
                   .in_channels = in,
                   .out_channels = out,
                   .in = {size, size},
                   .kernel = {kernel, kernel},
                   .stride = {stride, stride},
                   .padding = {padding, padding}});
  };
  return {conv(2, 1, 8, 28, 3, 1, 1),   conv(3, 8, 8, 28, 3, 1, 1),  conv(2, 8, 16, 28, 3, 2, 1),
          conv(2, 8, 16, 28, 1, 2, 0),  conv(5, 32, 32, 7, 3, 1, 1), conv(2, 6, 16, 14, 5, 1, 0),
          conv(33, 70, 10, 1, 1, 1, 0), conv(1, 17, 40, 1, 1, 1, 0)};
}

std::string text_of(const ConvShape& s) {
  std::string text = "batch " + std::to_string(s.batch) + ", channels " + std::to_string(s.in_channels) +
                     " to " + std::to_string(s.out_channels) + " in " + std::to_string(s.groups) + " groups";
  const auto add = [&](const char* name, Sizes size) {
    text += std::string(", ") + name + " " + std::to_string(size[0]) + " x " + std::to_string(size[1]);
  };
  add("in", s.in);
  add("kernel", s.kernel);
  add("stride", s.stride);
  add("padding", s.padding);
  add("dilation", s.dilation);
  return text;
}

std::int64_t place_of(const ConvShape& s, Pass pass, std::int64_t group, std::int64_t m, std::int64_t n) {
  if (pass == Pass::weight_gradient) {
    return (group * s.out_group() + m) * s.in_group() * s.kernel[0] * s.kernel[1] + n;
  }
  const bool forward = pass == Pass::forward;
  const std::int64_t image = forward ? s.out[0] * s.out[1] : s.in[0] * s.in[1];
  const std::int64_t channels = forward ? s.out_channels : s.in_channels;
  const std::int64_t channel = group * (forward ? s.out_group() : s.in_group()) + n;
  return (m / image * channels + channel) * image + m % image;
}

std::int64_t results_of(const ConvShape& s, Pass pass) {
  if (pass == Pass::forward) return s.outputs();
  return pass == Pass::input_gradient ? s.inputs() : s.weights();
}

}  // namespace mantissa::test
