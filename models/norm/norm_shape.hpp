// Where the channels of a tensor lie (ARITHMETIC.md 8).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mantissa {

// Element (b, c, s) is at (b * channels + c) * spatial + s; a channel's stream order is (b, s). NCHW has
// spatial = H * W; a linear layer has spatial = 1; NHWC is batch = N * H * W, spatial = 1.
struct NormShape {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t spatial = 1;

  // Length of a channel's stream.
  std::int64_t per_channel() const { return batch * spatial; }
  // Where the b-th run of a channel's stream begins in the tensor; it is `spatial` long.
  std::int64_t run_begin(std::int64_t b, std::int64_t channel) const {
    return (b * channels + channel) * spatial;
  }
  friend bool operator==(const NormShape&, const NormShape&) = default;
};

// Both throw std::invalid_argument that names `what`.
void check_elements(std::string_view what, std::size_t elements, const NormShape& shape);
void check_per_channel(std::string_view what, std::size_t elements, const NormShape& shape);

}  // namespace mantissa
