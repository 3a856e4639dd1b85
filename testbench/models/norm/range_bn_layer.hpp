// A layer of random data through Range BN, there and back.
#pragma once

#include <vector>

#include "models/norm/range_bn_tensor.hpp"
#include "testbench/models/norm/channel_data.hpp"

namespace mantissa::test {

inline constexpr RangeBnTensorConfig int8_mode{.channel = {}, .precision = NormPrecision::int8};

struct Layer {
  NormShape shape;
  std::vector<float> x, g, gamma, beta;
};

// Channels of unlike mean and spread, so that their inverses differ.
inline Layer random_layer(const NormShape& shape, std::uint32_t seed, float sigma = 1.0F) {
  const std::size_t n = shape.batch * shape.channels * shape.spatial;
  Layer layer{shape, gaussian(n, seed), gaussian(n, seed + 1, 0.01F, 0.1F),
              gaussian(shape.channels, seed + 2, 1.0F, 0.2F), gaussian(shape.channels, seed + 3, 0.0F, 0.3F)};
  for (std::size_t i = 0; i < n; ++i) {
    const auto c = static_cast<float>(static_cast<std::int64_t>(i) / shape.spatial % shape.channels);
    layer.x[i] = sigma * (layer.x[i] * (1.0F + 0.25F * c) + 0.1F * c);
  }
  return layer;
}

struct Result {
  RangeBnTensorSaved saved;
  RangeBnTensorGradients gradients;
  std::vector<float> y, dx;
};

inline Result run(const Layer& layer, const RangeBnTensorConfig& config, const DrawSource& draws) {
  Result result;
  result.y.resize(layer.x.size());
  result.dx.resize(layer.x.size());
  result.saved = range_bn_tensor_forward(layer.x, layer.shape, layer.gamma, layer.beta, config, result.y);
  result.gradients = range_bn_tensor_backward(result.saved, layer.g, draws, result.dx);
  return result;
}

inline std::vector<float> channel_of(const std::vector<float>& tensor, const NormShape& shape,
                                     std::int64_t c) {
  std::vector<float> stream;
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    if (static_cast<std::int64_t>(i) / shape.spatial % shape.channels == c) stream.push_back(tensor[i]);
  }
  return stream;
}

}  // namespace mantissa::test
