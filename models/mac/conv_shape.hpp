// The sizes of a convolution, from which its three passes' matrix products follow (ARITHMETIC.md 4).
#pragma once

#include <array>
#include <cstdint>

namespace mantissa {

// Tensors are x [batch, in_channels, in], w [out_channels, in_group, kernel], y [batch, out_channels, out],
// row-major. A linear layer is a convolution of 1 x 1 on images of 1 x 1.
struct ConvShape {
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;
  std::int64_t out_channels = 1;
  std::int64_t groups = 1;
  std::array<std::int64_t, 2> in{1, 1};  // height, width
  std::array<std::int64_t, 2> out{1, 1};
  std::array<std::int64_t, 2> kernel{1, 1};
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};

  std::int64_t in_group() const { return in_channels / groups; }
  std::int64_t out_group() const { return out_channels / groups; }
  std::int64_t inputs() const { return batch * in_channels * in[0] * in[1]; }
  std::int64_t outputs() const { return batch * out_channels * out[0] * out[1]; }
  std::int64_t weights() const { return out_channels * in_group() * kernel[0] * kernel[1]; }

  // The size of `out` that the other members ask for: every place where the kernel fits the padded image.
  std::array<std::int64_t, 2> fitting_out() const;
};

// Throws std::invalid_argument unless every size is positive (padding may be 0), groups divide the channels,
// the kernel fits the padded image and `out` is what follows from it.
void check_conv_shape(const ConvShape& shape);

}  // namespace mantissa
