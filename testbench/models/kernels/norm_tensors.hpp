// Tensors for the batch norm kernels: ordinary activations with now and then what they must not stumble over.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/norm/norm_shape.hpp"
#include "testbench/support/operands.hpp"

namespace mantissa::test {

// Shapes on both sides of every vector: channels and positions that fill it, and that leave some over.
inline const std::vector<NormShape> norm_shapes = {{4, 8, 16}, {3, 16, 49}, {2, 3, 7},  {6, 1, 1},
                                                   {5, 11, 1}, {1, 9, 24},  {2, 33, 20}};

// Into which a channel of n elements can be cut: 1, and others.
inline std::vector<std::int64_t> some_parts(std::int64_t n) {
  std::vector<std::int64_t> parts = {1};
  for (std::int64_t each = 2; each <= n / 2; ++each) {
    if (n % each == 0) parts.push_back(each);
  }
  return parts;
}

inline std::vector<float> activations(std::int64_t count, std::uint64_t seed, bool special = false) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const std::uint64_t word = random();
    value = (static_cast<float>(word & 0xFFFFFF) * 0x1p-23F - 0.7F) * 3.0F;
    if (word >> 60 == 0) value = (word >> 59 & 1) != 0 ? -0.0F : 0.0F;
    if (word >> 60 == 1) value = 1.25F;  // ties of a range
    if (special && (word >> 56) == 0x23) value = fp32_value(static_cast<std::uint32_t>(word));
    if (special && (word >> 54) == 0xA7) value = fp32_value((word & 1) != 0 ? 0xFFC00001U : 0x7F800000U);
  }
  return values;
}

template <class T>
std::vector<T> channel_stream(const std::vector<T>& tensor, const NormShape& shape, std::int64_t channel) {
  std::vector<T> stream;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t s = 0; s < shape.spatial; ++s) {
      stream.push_back(tensor[(b * shape.channels + channel) * shape.spatial + s]);
    }
  }
  return stream;
}

inline std::vector<std::uint32_t> all_bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(fp32_bits(value));
  return bits;
}

inline std::string name_of(const NormShape& shape) {
  return std::to_string(shape.batch) + " x " + std::to_string(shape.channels) + " x " +
         std::to_string(shape.spatial);
}

}  // namespace mantissa::test
