// How the convolution kernels read an image. A padded copy of it, with the positions that are one stride
// apart side by side, makes neighbouring outputs read neighbouring elements at every tap: a tap is an offset
// into the copy, an output is a lane, and nothing is lowered.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/mac/conv_shape.hpp"

namespace mantissa::kernels {

// One axis of the copy. Element i of the image has position i + before; positions p, p + step, p + 2 step ..
// form a phase, of which there are `step`, each of `length` elements.
struct PaddedAxis {
  std::int64_t size = 1;  // of the image
  std::int64_t before = 0;
  std::int64_t step = 1;
  std::int64_t length = 1;
};

// The copy of some channels: [channel][row phase][column phase][row][column].
struct PaddedImage {
  std::int64_t channels = 1;
  std::array<PaddedAxis, 2> axis;

  std::int64_t row_length() const { return axis[1].length; }
  std::int64_t plane() const { return axis[0].step * axis[1].step * axis[0].length * axis[1].length; }
  std::int64_t elements() const { return channels * plane(); }
  // Of a position of a channel.
  std::int64_t offset(std::int64_t channel, std::int64_t row, std::int64_t column) const;
};

// One k of a matrix product: where the copy is read for lane 0, and which weight of the output channel meets
// it.
struct ConvTap {
  std::int64_t offset = 0;
  std::int64_t weight = 0;
};

// Outputs that share their taps: rows first[0], first[0] + step .., and columns likewise. Output (i, j) of
// the part is lane i * row_length + j.
struct ConvPart {
  std::array<std::int64_t, 2> first{0, 0};
  std::array<std::int64_t, 2> count{1, 1};
  std::vector<ConvTap> taps;  // in k order
};

// The forward pass or the input gradient of one group: a correlation of the source's channels with the
// weights.
struct ConvPlan {
  PaddedImage image;               // of the source, x or g
  std::int64_t out_channels = 1;   // of the group
  std::int64_t weight_stride = 1;  // from one output channel's weight to the next's
  std::array<std::int64_t, 2> out{1, 1};
  std::array<std::int64_t, 2> out_step{1, 1};
  std::vector<ConvPart> parts;  // row phases ascending, in each the column phases
  std::int64_t lanes = 1;       // the most that a part has
  std::int64_t lanes_of(const ConvPart& part) const;
  // Taps of all parts.
  std::size_t group_taps() const;
  // Offset of as many elements as there are lanes that stay zero: what a hole reads.
  std::int64_t hole() const { return image.elements(); }
};

ConvPlan forward_plan(const ConvShape& shape);

// The holes of a strided layer are +0 and change no sum, unless they meet an Inf or NaN among the weights:
// only then need they be kept.
ConvPlan input_gradient_plan(const ConvShape& shape, bool keep_holes);

// The copy of x that the weight gradient reads: padded, in its own order.
PaddedImage weight_gradient_image(const ConvShape& shape);

}  // namespace mantissa::kernels
