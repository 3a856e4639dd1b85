#include "models/mac/bias_gradient.hpp"

#include <array>
#include <stdexcept>
#include <string>

#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

// Channels summed side by side. Within a channel every addition waits for the one before it; these chains do
// not wait for each other.
constexpr std::int64_t kLanes = 8;

// The sums of `Lanes` channels from `channel` on. A NaN stays one, so it becomes canonical once, at the end.
template <std::int64_t Lanes>
void sum_channels(std::span<const float> g, std::int64_t channels, std::int64_t spatial, std::int64_t channel,
                  float* sums) {
  std::array<float, Lanes> sum{};
  const auto elements = static_cast<std::int64_t>(g.size());
  for (std::int64_t run = channel * spatial; run < elements; run += channels * spatial) {
    for (std::int64_t s = 0; s < spatial; ++s) {
      for (std::int64_t lane = 0; lane < Lanes; ++lane) sum[lane] += g[run + lane * spatial + s];
    }
  }
  for (std::int64_t lane = 0; lane < Lanes; ++lane) sums[lane] = f32::canonical(sum[lane]);
}

}  // namespace

std::vector<float> bias_gradient(std::span<const float> g, std::int64_t channels, std::int64_t spatial) {
  const auto elements = static_cast<std::int64_t>(g.size());
  // By division, because the product of an absurd shape would overflow.
  if (channels < 1 || spatial < 1 || elements % channels != 0 || elements / channels % spatial != 0) {
    throw std::invalid_argument("a gradient of " + std::to_string(elements) + " elements is not batches of " +
                                std::to_string(channels) + " x " + std::to_string(spatial) +
                                " (channels x spatial, each at least 1)");
  }
  std::vector<float> sums(channels);
  if (elements == 0) return sums;
  std::int64_t channel = 0;
  for (; channel + kLanes <= channels; channel += kLanes) {
    sum_channels<kLanes>(g, channels, spatial, channel, &sums[channel]);
  }
  for (; channel < channels; ++channel) sum_channels<1>(g, channels, spatial, channel, &sums[channel]);
  return sums;
}

}  // namespace mantissa
