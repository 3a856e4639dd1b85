#include "models/norm/channel.hpp"

#include <stdexcept>
#include <string>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {

float reciprocal_of(std::int64_t count) {
  if (count < 1) throw std::invalid_argument("reciprocal of a count below 1: " + std::to_string(count));
  Flags flags;
  const Exact quotient =
      divide(Exact::integer(false, 1, 0), Exact::integer(false, static_cast<std::uint64_t>(count), 0), flags);
  return fp32_value(round(quotient, formats::fp32, Rounding::rne(), 0, Overflow::ieee).code);
}

float channel_mean(std::span<const float> x) {
  float sum = 0.0F;
  for (const float value : x) sum = f32::add(sum, value);
  return f32::mul(sum, reciprocal_of(static_cast<std::int64_t>(x.size())));
}

float normalised(float x, float mean, float inv) { return f32::mul(f32::sub(x, mean), inv); }

void normalise(std::span<const float> x, float mean, float inv, float gamma, float beta, std::span<float> y) {
  check_channel(x.size(), y.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = f32::fma(normalised(x[i], mean, inv), gamma, beta);
}

void GradientSums::add(float x_i, float g_i, float gamma, float mean, float inv) {
  const float xhat = normalised(x_i, mean, inv);
  const float h_i = f32::mul(gamma, g_i);
  g = f32::add(g, g_i);
  g_xhat = f32::add(g_xhat, f32::mul(g_i, xhat));
  h = f32::add(h, h_i);
  h_xhat = f32::add(h_xhat, f32::mul(h_i, xhat));
}

GradientSums gradient_sums(std::span<const float> x, std::span<const float> g, float gamma, float mean,
                           float inv) {
  check_channel(x.size(), g.size());
  GradientSums sums;
  for (std::size_t i = 0; i < x.size(); ++i) sums.add(x[i], g[i], gamma, mean, inv);
  return sums;
}

void check_channel(std::size_t length, std::size_t other) {
  if (length < 2) {
    throw std::invalid_argument("a channel of " + std::to_string(length) +
                                " elements cannot be normalised; at least 2 are needed");
  }
  if (other != length) {
    throw std::invalid_argument("a channel of " + std::to_string(length) + " elements with " +
                                std::to_string(other) + " outputs or gradients; the lengths must be equal");
  }
}

}  // namespace mantissa
