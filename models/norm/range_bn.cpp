#include "models/norm/range_bn.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

// 64 significant bits against the 24 of the result: a wrong rounding would need a C(n) within about 2^-37 of
// its last place from a tie.
static_assert(std::numeric_limits<long double>::digits >= 64);

Exact exact_of_positive(long double value) {
  int exponent = 0;
  const long double fraction = std::frexp(value, &exponent);
  return Exact::integer(false, static_cast<std::uint64_t>(std::ldexp(fraction, 64)), exponent - 64);
}

struct Extremes {
  float maxima = 0.0F;  // sum over the chunks
  float minima = 0.0F;
  std::vector<std::int64_t> argmax;
  std::vector<std::int64_t> argmin;
};

Extremes extremes_of(std::span<const float> x, const RangeBnRegisters& registers) {
  Extremes extremes;
  const auto n = static_cast<std::int64_t>(x.size());
  for (std::int64_t first = 0; first < n; first += registers.chunk_length) {
    std::int64_t highest = first;
    std::int64_t lowest = first;
    for (std::int64_t i = first; i < first + registers.chunk_length; ++i) {
      if (x[i] > x[highest]) highest = i;
      if (x[i] < x[lowest]) lowest = i;
    }
    extremes.maxima = f32::add(extremes.maxima, x[highest]);
    extremes.minima = f32::add(extremes.minima, x[lowest]);
    extremes.argmax.push_back(highest);
    extremes.argmin.push_back(lowest);
  }
  return extremes;
}

}  // namespace

RangeConstant parse_range_constant(std::string_view text) {
  if (text == "paper") return RangeConstant::paper;
  if (text == "reference") return RangeConstant::reference;
  throw std::invalid_argument("unknown Range BN constant '" + std::string(text) +
                              "'; allowed: paper, reference");
}

float range_constant(std::int64_t n, RangeConstant kind) {
  if (n < 2) throw std::invalid_argument("C(n) needs n >= 2, not " + std::to_string(n));
  const long double factor = kind == RangeConstant::paper ? 1.0L : 0.540208L;
  const Exact c = exact_of_positive(factor / std::sqrt(2 * std::log(static_cast<long double>(n))));
  return fp32_value(round(c, formats::fp32, Rounding::rne(), 0, Overflow::ieee).code);
}

RangeBnRegisters::RangeBnRegisters(std::int64_t n, const RangeBnConfig& config) {
  if (config.chunks < 1 || n % config.chunks != 0 || n / config.chunks < 2) {
    throw std::invalid_argument("Range BN cannot cut " + std::to_string(n) + " elements into " +
                                std::to_string(config.chunks) +
                                " chunks; chunks must divide n and leave at least 2 elements each");
  }
  chunk_length = n / config.chunks;
  reciprocal_n = reciprocal_of(n);
  reciprocal_chunks = reciprocal_of(config.chunks);
  constant = range_constant(chunk_length, config.constant);
}

RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnConfig& config) {
  return range_bn_statistics(x, RangeBnRegisters(static_cast<std::int64_t>(x.size()), config));
}

RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnRegisters& registers) {
  Extremes extremes = extremes_of(x, registers);
  const bool has_nan = std::any_of(x.begin(), x.end(), [](float value) { return std::isnan(value); });
  return {channel_mean(x), range_bn_inv(extremes.maxima, extremes.minima, has_nan, registers),
          std::move(extremes.argmax), std::move(extremes.argmin)};
}

float range_bn_inv(float maxima, float minima, bool has_nan, const RangeBnRegisters& registers) {
  float range =
      f32::sub(f32::mul(maxima, registers.reciprocal_chunks), f32::mul(minima, registers.reciprocal_chunks));
  if (has_nan) range = fp32_value(formats::fp32.nan_code());
  const float s = f32::add(f32::mul(range, registers.constant), registers.epsilon);
  return f32::div(1.0F, s);
}

RangeBnSaved range_bn_forward(std::span<const float> x, float gamma, float beta, const RangeBnConfig& config,
                              std::span<float> y) {
  check_channel(x.size(), y.size());
  RangeBnSaved saved = range_bn_statistics(x, config);
  normalise(x, saved.mean, saved.inv, gamma, beta, y);
  return saved;
}

RangeBnCorrection range_bn_correction(const GradientSums& sums, float inv,
                                      const RangeBnRegisters& registers) {
  const float ds = f32::mul(-sums.h_xhat, inv);
  return {f32::mul(sums.h, registers.reciprocal_n),
          f32::mul(f32::mul(registers.constant, ds), registers.reciprocal_chunks)};
}

float range_bn_input_gradient(float g, float gamma, float inv, const RangeBnCorrection& correction) {
  return f32::mul(f32::sub(f32::mul(gamma, g), correction.mean_h), inv);
}

void check_range_bn_saved(const RangeBnSaved& saved, std::int64_t n, std::int64_t chunks) {
  const auto inside = [n](std::int64_t i) { return i >= 0 && i < n; };
  const auto fits = [&](const std::vector<std::int64_t>& indices) {
    return std::cmp_equal(indices.size(), chunks) && std::all_of(indices.begin(), indices.end(), inside);
  };
  if (!fits(saved.argmax) || !fits(saved.argmin)) {
    throw std::invalid_argument(
        "Range BN backward needs one argmax and one argmin inside the channel for each of " +
        std::to_string(chunks) + " chunks");
  }
}

NormGradients range_bn_backward(std::span<const float> x, std::span<const float> g, float gamma,
                                const RangeBnSaved& saved, const RangeBnConfig& config, std::span<float> dx) {
  check_channel(x.size(), g.size());
  check_channel(x.size(), dx.size());
  const auto n = static_cast<std::int64_t>(x.size());
  check_range_bn_saved(saved, n, config.chunks);
  const RangeBnRegisters registers(n, config);
  const GradientSums sums = gradient_sums(x, g, gamma, saved.mean, saved.inv);
  const RangeBnCorrection correction = range_bn_correction(sums, saved.inv, registers);
  for (std::size_t i = 0; i < x.size(); ++i) {
    dx[i] = range_bn_input_gradient(g[i], gamma, saved.inv, correction);
  }
  for (std::size_t chunk = 0; chunk < saved.argmax.size(); ++chunk) {
    const std::int64_t highest = saved.argmax[chunk];
    const std::int64_t lowest = saved.argmin[chunk];
    if (highest == lowest) continue;
    dx[highest] = f32::add(dx[highest], correction.t);
    dx[lowest] = f32::sub(dx[lowest], correction.t);
  }
  return {sums.g_xhat, sums.g};
}

}  // namespace mantissa
