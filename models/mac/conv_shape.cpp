#include "models/mac/conv_shape.hpp"

#include <limits>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

void check_range(const char* name, std::int64_t value, std::int64_t least) {
  // Far beyond any layer, and products of a few such sizes still fit 64 bits.
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value < least || value > most) {
    throw std::invalid_argument(std::string("convolution: ") + name + " is " + std::to_string(least) + ".." +
                                std::to_string(most) + ", not " + std::to_string(value));
  }
}

void check_tensor(const char* name, std::initializer_list<std::int64_t> sizes) {
  __int128 elements = 1;
  for (const std::int64_t size : sizes) {
    elements *= size;
    if (elements > std::numeric_limits<std::int64_t>::max() / 16) {
      throw std::invalid_argument(std::string("convolution: ") + name + " has too many elements");
    }
  }
}

}  // namespace

std::array<std::int64_t, 2> ConvShape::fitting_out() const {
  std::array<std::int64_t, 2> size{};
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t span = dilation[axis] * (kernel[axis] - 1) + 1;
    size[axis] = (in[axis] + 2 * padding[axis] - span) / stride[axis] + 1;
  }
  return size;
}

void check_conv_shape(const ConvShape& shape) {
  check_range("batch", shape.batch, 1);
  check_range("in_channels", shape.in_channels, 1);
  check_range("out_channels", shape.out_channels, 1);
  check_range("groups", shape.groups, 1);
  for (int axis = 0; axis < 2; ++axis) {
    check_range("in", shape.in[axis], 1);
    check_range("out", shape.out[axis], 1);
    check_range("kernel", shape.kernel[axis], 1);
    check_range("stride", shape.stride[axis], 1);
    check_range("padding", shape.padding[axis], 0);
    check_range("dilation", shape.dilation[axis], 1);
  }
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    throw std::invalid_argument("convolution: " + std::to_string(shape.groups) + " groups do not divide " +
                                std::to_string(shape.in_channels) + " input and " +
                                std::to_string(shape.out_channels) + " output channels");
  }
  const std::array<std::int64_t, 2> out = shape.fitting_out();
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t padded = shape.in[axis] + 2 * shape.padding[axis];
    if (shape.dilation[axis] * (shape.kernel[axis] - 1) >= padded) {
      throw std::invalid_argument("convolution: a kernel of " + std::to_string(shape.kernel[axis]) +
                                  " with dilation " + std::to_string(shape.dilation[axis]) +
                                  " does not fit a padded image of " + std::to_string(padded));
    }
    if (out[axis] != shape.out[axis]) {
      throw std::invalid_argument("convolution: the output has size " + std::to_string(out[axis]) +
                                  " along axis " + std::to_string(axis) + ", not " +
                                  std::to_string(shape.out[axis]));
    }
  }
  check_tensor("the input", {shape.batch, shape.in_channels, shape.in[0], shape.in[1]});
  check_tensor("the output", {shape.batch, shape.out_channels, shape.out[0], shape.out[1]});
  check_tensor("the weight", {shape.out_channels, shape.in_group(), shape.kernel[0], shape.kernel[1]});
}

}  // namespace mantissa
