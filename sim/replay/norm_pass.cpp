#include "sim/replay/norm_pass.hpp"

#include <algorithm>
#include <cmath>

#include "models/kernels/norm.hpp"
#include "models/parallel/parallel.hpp"

namespace mantissa::replay {
namespace {

// One channel in stream order, and back.
template <class T>
std::vector<T> channel_of(std::span<const T> tensor, const NormShape& shape, std::int64_t channel) {
  std::vector<T> values;
  values.reserve(shape.batch * shape.spatial);
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    const auto plane = tensor.subspan((b * shape.channels + channel) * shape.spatial, shape.spatial);
    values.insert(values.end(), plane.begin(), plane.end());
  }
  return values;
}

template <class T>
void put_channel(std::span<const T> values, const NormShape& shape, std::int64_t channel,
                 std::span<T> tensor) {
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    std::copy_n(values.begin() + b * shape.spatial, shape.spatial,
                tensor.begin() + (b * shape.channels + channel) * shape.spatial);
  }
}

// Calls body(channel) for every channel.
template <class Body>
void for_channels(const NormShape& shape, int threads, const Body& body) {
  parallel_ranges(shape.channels, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t channel = begin; channel < end; ++channel) body(channel);
  });
}

// The textbook in FP64: (x - mean) * inv, with inv from the variance or from the range.
struct Reference {
  double mean = 0;
  double inv = 0;
  double range_weight = 0;  // d(1/inv) / d(max of a chunk); 0: inv comes from the variance
  std::vector<std::size_t> argmax;
  std::vector<std::size_t> argmin;
};

Reference reference_of(std::span<const double> x, const NormRule& rule) {
  Reference reference;
  const auto n = static_cast<double>(x.size());
  for (const double value : x) reference.mean += value;
  reference.mean /= n;
  if (rule.kind == NormRule::Kind::standard) {
    double squares = 0;
    for (const double value : x) squares += (value - reference.mean) * (value - reference.mean);
    reference.inv = 1 / std::sqrt(squares / n + static_cast<double>(norm_epsilon));
    return reference;
  }
  const std::int64_t chunks = rule.range.channel.chunks;
  const std::size_t length = x.size() / chunks;
  double range = 0;
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const auto begin = x.begin() + chunk * length;
    // The first among equals, as the unit has it.
    const auto high = std::max_element(begin, begin + length);
    const auto low = std::min_element(begin, begin + length);
    reference.argmax.push_back(high - x.begin());
    reference.argmin.push_back(low - x.begin());
    range += *high - *low;
  }
  const auto constant =
      static_cast<double>(range_constant(static_cast<std::int64_t>(length), rule.range.channel.constant));
  reference.range_weight = constant / static_cast<double>(chunks);
  reference.inv = 1 / (range * reference.range_weight + static_cast<double>(norm_epsilon));
  return reference;
}

std::vector<double> reference_gradient(std::span<const double> x, std::span<const double> g, double gamma,
                                       const Reference& reference) {
  const auto n = static_cast<double>(x.size());
  double sum_h = 0;
  double sum_h_xhat = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_h += gamma * g[i];
    sum_h_xhat += gamma * g[i] * (x[i] - reference.mean) * reference.inv;
  }
  const bool standard = reference.range_weight == 0;
  std::vector<double> dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double along = standard ? (x[i] - reference.mean) * reference.inv * sum_h_xhat / n : 0;
    dx[i] = (gamma * g[i] - sum_h / n - along) * reference.inv;
  }
  const double correction = -sum_h_xhat * reference.inv * reference.range_weight;
  for (std::size_t chunk = 0; chunk < reference.argmax.size(); ++chunk) {
    dx[reference.argmax[chunk]] += correction;
    dx[reference.argmin[chunk]] -= correction;
  }
  return dx;
}

std::vector<double> widened(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

std::span<const float> norm_values(const NormLayer& layer, const RecordedOperand& operand,
                                   std::vector<float>& storage, int threads) {
  if (layer.quantizes && operand.encoded.type().is_integer()) return operand.values;
  return operand.encoded.numbers(storage, threads);
}

EncodedTensor norm_stream(const NormLayer& layer, const RecordedOperand& operand, Rounding rounding,
                          const DrawSource& draws, int threads) {
  if (!layer.quantizes) return operand.encoded;
  std::vector<float> storage;
  EncodedTensor stream;
  encode(norm_values(layer, operand, storage, threads),
         {.type = ElementType::integer(8), .rounding = rounding}, draws, stream, {.threads = threads});
  return stream;
}

int norm_bits(const NormLayer& layer, const RecordedOperand& operand) {
  return layer.quantizes ? 8 : operand.encoded.type().bits();
}

NormResult norm_forward(const NormLayer& layer, int threads) {
  const std::size_t elements = layer.x->values.size();
  NormResult result{std::vector<float>(elements), std::vector<double>(elements)};
  std::vector<float> storage;
  const std::span<const float> x = norm_values(layer, *layer.x, storage, threads);
  switch (layer.rule.kind) {
    case NormRule::Kind::range:
      result.saved = kernels::range_bn_tensor_forward(x, layer.shape, layer.gamma, layer.beta,
                                                      layer.rule.range, result.values, threads);
      break;
    case NormRule::Kind::standard:
      result.standard = kernels::batch_norm_forward(x, layer.shape, layer.gamma, layer.beta, result.values,
                                                    threads, layer.rule.parts);
      break;
  }
  for_channels(layer.shape, threads, [&](std::int64_t channel) {
    std::vector<double> exact = widened(channel_of<float>(layer.x->values, layer.shape, channel));
    const Reference reference = reference_of(exact, layer.rule);
    for (double& value : exact) {
      value = (value - reference.mean) * reference.inv * static_cast<double>(layer.gamma[channel]) +
              static_cast<double>(layer.beta[channel]);
    }
    put_channel<double>(exact, layer.shape, channel, result.reference);
  });
  return result;
}

NormResult norm_backward(const NormLayer& layer, const RecordedOperand& g, const NormResult& forward,
                         const DrawSource& draws, int threads) {
  const std::size_t elements = layer.x->values.size();
  NormResult result{std::vector<float>(elements), std::vector<double>(elements)};
  std::vector<float> g_storage;
  const std::span<const float> used_g = norm_values(layer, g, g_storage, threads);
  switch (layer.rule.kind) {
    case NormRule::Kind::range:
      result.saved = forward.saved;
      result.gradients =
          kernels::range_bn_tensor_backward(*result.saved, used_g, draws, result.values, threads);
      break;
    case NormRule::Kind::standard: {
      std::vector<float> x_storage;
      kernels::batch_norm_backward(norm_values(layer, *layer.x, x_storage, threads), used_g, layer.shape,
                                   layer.gamma, forward.standard, result.values, threads, layer.rule.parts);
      break;
    }
  }
  for_channels(layer.shape, threads, [&](std::int64_t channel) {
    const std::vector<double> exact = widened(channel_of<float>(layer.x->values, layer.shape, channel));
    const std::vector<double> gradient = widened(channel_of<float>(g.values, layer.shape, channel));
    const std::vector<double> dx = reference_gradient(
        exact, gradient, static_cast<double>(layer.gamma[channel]), reference_of(exact, layer.rule));
    put_channel<double>(dx, layer.shape, channel, result.reference);
  });
  return result;
}

}  // namespace mantissa::replay
