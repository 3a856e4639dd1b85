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

std::int64_t part_length(std::int64_t n, std::int64_t parts) {
  if (parts < 1 || n % parts != 0 || (parts > 1 && n / parts < 2)) {
    throw std::invalid_argument("the sums over " + std::to_string(n) + " elements cannot be cut into " +
                                std::to_string(parts) +
                                " parts; parts must divide n and leave at least 2 elements each");
  }
  return n / parts;
}

float channel_mean(std::span<const float> x, std::int64_t parts) {
  const std::int64_t length = part_length(std::ssize(x), parts);
  float total = 0.0F;
  for (std::int64_t part = 0; part < parts; ++part) {
    float sum = 0.0F;
    for (const float value : x.subspan(part * length, length)) sum = f32::add(sum, value);
    total = f32::add(total, sum);
  }
  return f32::mul(total, reciprocal_of(std::ssize(x)));
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

void GradientSums::end_part(GradientSums& total) {
  total.g = f32::add(total.g, g);
  total.g_xhat = f32::add(total.g_xhat, g_xhat);
  total.h = f32::add(total.h, h);
  total.h_xhat = f32::add(total.h_xhat, h_xhat);
  *this = {};
}

GradientSums gradient_sums(std::span<const float> x, std::span<const float> g, float gamma, float mean,
                           float inv, std::int64_t parts) {
  check_channel(x.size(), g.size());
  const std::int64_t length = part_length(std::ssize(x), parts);
  GradientSums part;
  GradientSums total;
  for (std::int64_t i = 0; i < std::ssize(x); ++i) {
    part.add(x[i], g[i], gamma, mean, inv);
    if ((i + 1) % length == 0) part.end_part(total);
  }
  return total;
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
