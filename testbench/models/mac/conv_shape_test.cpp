// Sizes of convolutions: what follows from them, and which are refused.
#include "models/mac/conv_shape.hpp"

#include <gtest/gtest.h>

#include "testbench/support/refusal.hpp"

namespace mantissa {
namespace {

ConvShape halving() {
  return {.batch = 2,
          .in_channels = 4,
          .out_channels = 6,
          .groups = 2,
          .in = {28, 7},
          .out = {14, 4},
          .kernel = {3, 3},
          .stride = {2, 2},
          .padding = {1, 1}};
}

TEST(ConvShape, SizesFollow) {
  const ConvShape shape = halving();
  EXPECT_EQ(shape.fitting_out(), shape.out);
  EXPECT_EQ(shape.inputs(), 2 * 4 * 28 * 7);
  EXPECT_EQ(shape.outputs(), 2 * 6 * 14 * 4);
  EXPECT_EQ(shape.weights(), 6 * 2 * 3 * 3);
  EXPECT_NO_THROW(check_conv_shape(shape));
  ConvShape dilated = shape;
  dilated.dilation = {5, 3};  // spans 11 and 7 of 30 and 9
  EXPECT_EQ(dilated.fitting_out(), (std::array<std::int64_t, 2>{10, 2}));
}

TEST(ConvShape, ContradictionsAreRefused) {
  const auto refused = [](void (*change)(ConvShape&)) {
    ConvShape shape = halving();
    change(shape);
    return test::refusal([&] { check_conv_shape(shape); });
  };
  EXPECT_EQ(refused([](ConvShape& s) { s.batch = 0; }), "convolution: batch is 1..2147483647, not 0");
  EXPECT_EQ(refused([](ConvShape& s) { s.padding[1] = -1; }),
            "convolution: padding is 0..2147483647, not -1");
  EXPECT_EQ(refused([](ConvShape& s) { s.stride[0] = 0; }), "convolution: stride is 1..2147483647, not 0");
  EXPECT_EQ(refused([](ConvShape& s) { s.groups = 4; }),
            "convolution: 4 groups do not divide 4 input and 6 output channels");
  EXPECT_EQ(refused([](ConvShape& s) { s.out[1] = 3; }),
            "convolution: the output has size 4 along axis 1, not 3");
  EXPECT_EQ(refused([](ConvShape& s) { s.kernel[1] = 10; }),
            "convolution: a kernel of 10 with dilation 1 does not fit a padded image of 9");
  EXPECT_EQ(refused([](ConvShape& s) { s.batch = s.in_channels = 1 << 30; }),
            "convolution: the input has too many elements");
}

}  // namespace
}  // namespace mantissa
