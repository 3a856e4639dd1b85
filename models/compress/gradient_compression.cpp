#include "models/compress/gradient_compression.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "models/compress/run_length.hpp"
#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

constexpr std::uint32_t smallest_nonzero = 1;  // the magnitude bits of 2^-149

std::uint32_t magnitude_bits(float value) { return fp32_bits(value) & formats::fp32.magnitude_mask(); }

std::size_t count_survivors(std::span<const float> values, std::uint32_t threshold) {
  return std::count_if(values.begin(), values.end(),
                       [threshold](float value) { return survives(fp32_bits(value), threshold); });
}

// The k-th largest, k from 1; reorders `magnitudes`.
std::uint32_t kth_largest(std::vector<std::uint32_t>& magnitudes, std::size_t k) {
  const auto kth = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(magnitudes.begin(), kth, magnitudes.end(), std::greater<>());
  return *kth;
}

std::uint32_t sampled_threshold(std::span<const float> values, const TopShare& share) {
  const std::size_t stride = sample_stride(values.size(), share);
  std::vector<std::uint32_t> samples;
  samples.reserve(values.size() / stride + 1);
  for (std::size_t i = share.random_start % stride; i < values.size(); i += stride) {
    samples.push_back(magnitude_bits(values[i]));
  }
  return std::max(kth_largest(samples, target_count(samples.size(), share.keep)), smallest_nonzero);
}

// The threshold that leaves `target` of the elements that pass `threshold` (more only where magnitudes tie).
std::uint32_t exact_among_survivors(std::span<const float> values, std::uint32_t threshold,
                                    std::size_t target) {
  std::vector<std::uint32_t> survivors;
  for (const float value : values) {
    if (survives(fp32_bits(value), threshold)) survivors.push_back(magnitude_bits(value));
  }
  return kth_largest(survivors, target);
}

}  // namespace

void TopShare::check() const {
  const auto is_share = [](double value) { return value >= 1e-12 && value <= 1; };
  if (!is_share(keep) || !is_share(sample)) {
    throw std::invalid_argument("the shares to keep and to sample must be from 1e-12 to 1");
  }
  if (!(too_many >= 1) || !(too_few >= 0 && too_few <= 1) || attempts < 0) {
    throw std::invalid_argument("survivor bounds need too_many >= 1, too_few 0..1, attempts >= 0");
  }
}

std::size_t target_count(std::size_t elements, double keep) {
  return std::max<std::size_t>(1, std::llround(static_cast<double>(elements) * keep));
}

std::size_t sample_stride(std::size_t elements, const TopShare& share) {
  const auto n = static_cast<double>(elements);
  const auto wanted = static_cast<std::size_t>(std::ceil(std::max(n * share.sample, 2 / share.keep)));
  if (wanted >= elements) return 1;
  std::size_t stride = static_cast<std::size_t>(std::ceil(n / static_cast<double>(wanted) / 32)) * 32 + 1;
  while (elements / stride < wanted) stride -= 8;
  return stride;
}

float top_share_threshold(std::span<const float> values, const TopShare& share) {
  share.check();
  if (values.empty()) throw std::invalid_argument("an empty tensor has no largest elements");
  const std::size_t target = target_count(values.size(), share.keep);
  std::uint32_t threshold = sampled_threshold(values, share);
  for (int attempt = 0;; ++attempt) {
    const auto survivors = static_cast<double>(count_survivors(values, threshold));
    const auto aim = static_cast<double>(target);
    if (survivors > share.too_many * aim) {
      return fp32_value(exact_among_survivors(values, threshold, target));
    }
    if (survivors >= share.too_few * aim || attempt == share.attempts) return fp32_value(threshold);
    threshold = std::max(magnitude_bits(f32::mul(fp32_value(threshold), 0.8F)), smallest_nonzero);
  }
}

float local_clipping_limit(float threshold, int nodes) {
  if (nodes < 1) throw std::invalid_argument("a node count must be at least 1, not " + std::to_string(nodes));
  return f32::div(threshold, std::sqrt(static_cast<float>(nodes)));
}

void clip_to_norm(std::span<const std::span<float>> tensors, float limit) {
  if (!(limit > 0)) throw std::invalid_argument("a gradient norm limit must be above 0");
  // In double, where the square of no FP32 value overflows or vanishes.
  double squares = 0;
  for (const std::span<float> tensor : tensors) {
    for (const double value : tensor) squares += value * value;
  }
  const double norm = std::sqrt(squares);
  if (!(norm > limit)) return;
  const auto factor = static_cast<float>(limit / norm);
  for (const std::span<float> tensor : tensors) {
    for (float& value : tensor) value = f32::mul(value, factor);
  }
}

void clip_to_norm(std::span<float> gradient, float limit) {
  clip_to_norm(std::span<const std::span<float>>(&gradient, 1), limit);
}

void take_share(std::span<float> gradient, int loss_exponent, int workers) {
  if (workers < 1) throw std::invalid_argument("a gradient needs at least one worker");
  const auto count = static_cast<float>(workers);
  // Exact in double: one rounding to FP32 each.
  const double unscale = std::ldexp(1.0, -loss_exponent);
  for (float& value : gradient)
    value = f32::div(static_cast<float>(static_cast<double>(value) * unscale), count);
}

void add_decay_share(std::span<float> gradient, std::span<const float> weights, float decay, int workers) {
  if (gradient.size() != weights.size()) {
    throw std::invalid_argument("a gradient of " + std::to_string(gradient.size()) + " elements for " +
                                std::to_string(weights.size()) + " weights");
  }
  const float share = f32::div(decay, static_cast<float>(workers));
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = f32::fma(share, weights[i], gradient[i]);
}

double warm_up_keep(std::int64_t iteration, std::int64_t warm_up_iterations, double final_keep) {
  if (iteration < 0 || warm_up_iterations < 0) {
    throw std::invalid_argument("iterations of a warm-up schedule cannot be negative");
  }
  if (iteration >= warm_up_iterations) return final_keep;
  constexpr int parts = 4;
  const std::int64_t part = iteration * parts / warm_up_iterations;
  return std::max(final_keep, std::ldexp(1.0, -2 * static_cast<int>(part + 1)));
}

GradientCompressor::GradientCompressor(std::size_t elements, float momentum, MomentumKind kind,
                                       SentVelocity sent)
    : momentum_(momentum),
      kind_(kind),
      sent_(sent),
      velocity_(elements, 0.0F),
      accumulated_(elements, 0.0F) {}

void GradientCompressor::restore(std::span<const float> velocity, std::span<const float> accumulated) {
  if (velocity.size() != velocity_.size() || accumulated.size() != accumulated_.size())
    throw std::invalid_argument("what a worker has not sent belongs to a tensor of another size");
  velocity_.assign(velocity.begin(), velocity.end());
  accumulated_.assign(accumulated.begin(), accumulated.end());
}

std::vector<std::uint8_t> GradientCompressor::compress(std::span<const float> gradient,
                                                       const TopShare& share) {
  if (gradient.size() != velocity_.size()) {
    throw std::invalid_argument("a gradient of " + std::to_string(gradient.size()) +
                                " elements for a tensor of " + std::to_string(velocity_.size()));
  }
  share.check();  // before anything is accumulated
  if (gradient.empty()) return {};
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    float& u = velocity_[i];
    float& v = accumulated_[i];
    if (kind_ == MomentumKind::heavy_ball) {
      u = f32::fma(momentum_, u, gradient[i]);
      v = f32::add(v, u);
    } else {
      u = f32::mul(momentum_, f32::add(u, gradient[i]));
      v = f32::add(v, f32::add(u, gradient[i]));
    }
  }
  const float threshold = top_share_threshold(accumulated_, share);
  std::vector<std::uint8_t> message = run_length_encode(accumulated_, threshold);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (!survives(fp32_bits(accumulated_[i]), fp32_bits(threshold))) continue;
    accumulated_[i] = 0.0F;
    if (sent_ == SentVelocity::cleared) velocity_[i] = 0.0F;
  }
  return message;
}

void add_message(std::span<const std::uint8_t> message, std::span<float> sum) {
  const std::vector<float> values = run_length_decode(message, sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = f32::add(sum[i], values[i]);
}

void ExchangeSize::add_dense(std::uint64_t elements) {
  dense_bytes += 4 * elements;
  sent_bytes += 4 * elements;
}

void ExchangeSize::add_compressed(std::uint64_t elements, std::uint64_t message_bytes) {
  dense_bytes += 4 * elements;
  sent_bytes += message_bytes;
}

}  // namespace mantissa
