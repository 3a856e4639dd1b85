#include "models/kernels/conv_plan.hpp"

#include <algorithm>

namespace mantissa::kernels {
namespace {

std::int64_t taps_of(const ConvShape& shape) { return shape.kernel[0] * shape.kernel[1]; }

}  // namespace

std::int64_t PaddedImage::offset(std::int64_t channel, std::int64_t row, std::int64_t column) const {
  const std::int64_t phase = row % axis[0].step * axis[1].step + column % axis[1].step;
  return channel * plane() + (phase * axis[0].length + row / axis[0].step) * axis[1].length +
         column / axis[1].step;
}

std::int64_t ConvPlan::lanes_of(const ConvPart& part) const {
  if (part.count[0] == 0 || part.count[1] == 0) return 0;
  return (part.count[0] - 1) * image.row_length() + part.count[1];
}

std::size_t ConvPlan::group_taps() const {
  std::size_t taps = 0;
  for (const ConvPart& part : parts) taps += part.taps.size();
  return taps;
}

ConvPlan forward_plan(const ConvShape& shape) {
  ConvPlan plan;
  plan.image.channels = shape.in_group();
  for (int i = 0; i < 2; ++i) {
    // The last position that is read, or the last one of the image, which need not be read.
    const std::int64_t last =
        std::max((shape.out[i] - 1) * shape.stride[i] + (shape.kernel[i] - 1) * shape.dilation[i],
                 shape.padding[i] + shape.in[i] - 1);
    plan.image.axis[i] = {shape.in[i], shape.padding[i], shape.stride[i], last / shape.stride[i] + 1};
  }
  plan.out_channels = shape.out_group();
  plan.weight_stride = shape.in_group() * taps_of(shape);
  plan.out = shape.out;
  ConvPart part;
  part.count = shape.out;
  for (std::int64_t c = 0; c < shape.in_group(); ++c) {
    for (std::int64_t kr = 0; kr < shape.kernel[0]; ++kr) {
      for (std::int64_t kc = 0; kc < shape.kernel[1]; ++kc) {
        part.taps.push_back({plan.image.offset(c, kr * shape.dilation[0], kc * shape.dilation[1]),
                             (c * shape.kernel[0] + kr) * shape.kernel[1] + kc});
      }
    }
  }
  plan.lanes = plan.lanes_of(part);
  plan.parts.push_back(std::move(part));
  return plan;
}

ConvPlan input_gradient_plan(const ConvShape& shape, bool keep_holes) {
  ConvPlan plan;
  plan.image.channels = shape.out_group();
  for (int i = 0; i < 2; ++i) {
    const std::int64_t reach =
        std::max<std::int64_t>((shape.kernel[i] - 1) * shape.dilation[i] - shape.padding[i], 0);
    const std::int64_t before = (reach + shape.stride[i] - 1) / shape.stride[i];
    const std::int64_t last =
        std::max((shape.in[i] - 1 + shape.padding[i]) / shape.stride[i], shape.out[i] - 1);
    plan.image.axis[i] = {shape.out[i], before, 1, before + last + 1};
  }
  plan.out_channels = shape.in_group();
  plan.weight_stride = taps_of(shape);
  plan.out = shape.in;
  plan.out_step = shape.stride;
  plan.lanes = 0;
  for (std::int64_t row = 0; row < shape.stride[0]; ++row) {
    for (std::int64_t column = 0; column < shape.stride[1]; ++column) {
      ConvPart part;
      part.first = {row, column};
      for (int i = 0; i < 2; ++i) {
        part.count[i] =
            std::max<std::int64_t>((shape.in[i] - part.first[i] + shape.stride[i] - 1) / shape.stride[i], 0);
      }
      for (std::int64_t o = 0; o < shape.out_group(); ++o) {
        for (std::int64_t kr = 0; kr < shape.kernel[0]; ++kr) {
          for (std::int64_t kc = 0; kc < shape.kernel[1]; ++kc) {
            const std::array<std::int64_t, 2> from = {row + shape.padding[0] - kr * shape.dilation[0],
                                                      column + shape.padding[1] - kc * shape.dilation[1]};
            const bool hole = from[0] % shape.stride[0] != 0 || from[1] % shape.stride[1] != 0;
            if (hole && !keep_holes) continue;
            const std::int64_t offset =
                hole ? plan.hole()
                     : plan.image.offset(o, from[0] / shape.stride[0] + plan.image.axis[0].before,
                                         from[1] / shape.stride[1] + plan.image.axis[1].before);
            part.taps.push_back(
                {offset, (o * shape.in_group() * shape.kernel[0] + kr) * shape.kernel[1] + kc});
          }
        }
      }
      plan.lanes = std::max(plan.lanes, plan.lanes_of(part));
      plan.parts.push_back(std::move(part));
    }
  }
  return plan;
}

PaddedImage weight_gradient_image(const ConvShape& shape) {
  PaddedImage image;
  image.channels = shape.in_group();
  for (int i = 0; i < 2; ++i) {
    const std::int64_t last =
        std::max((shape.out[i] - 1) * shape.stride[i] + (shape.kernel[i] - 1) * shape.dilation[i],
                 shape.padding[i] + shape.in[i] - 1);
    image.axis[i] = {shape.in[i], shape.padding[i], 1, last + 1};
  }
  return image;
}

}  // namespace mantissa::kernels
