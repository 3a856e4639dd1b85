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
  part_length(n, config.parts);
  if (config.parts % config.chunks != 0 && config.chunks % config.parts != 0) {
    throw std::invalid_argument("Range BN cannot sum " + std::to_string(config.chunks) + " chunks in " +
                                std::to_string(config.parts) +
                                " parts; one of the two numbers must divide the other");
  }
  chunk_length = n / config.chunks;
  parts = config.parts;
  reciprocal_n = reciprocal_of(n);
  reciprocal_chunks = reciprocal_of(config.chunks);
  constant = range_constant(chunk_length, config.constant);
}

void RangeBnSums::add(float x_i, std::int64_t index, bool begins_chunk, bool ends_chunk) {
  x = f32::add(x, x_i);
  has_nan = has_nan || std::isnan(x_i);
  if (begins_chunk || x_i > high) {
    high = x_i;
    argmax = index;
  }
  if (begins_chunk || x_i < low) {
    low = x_i;
    argmin = index;
  }
  if (!ends_chunk) return;
  maxima = f32::add(maxima, high);
  minima = f32::add(minima, low);
}

void RangeBnSums::end_part(RangeBnSums& total) {
  total.x = f32::add(total.x, x);
  total.maxima = f32::add(total.maxima, maxima);
  total.minima = f32::add(total.minima, minima);
  total.has_nan = total.has_nan || has_nan;
  x = maxima = minima = 0.0F;
}

RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnConfig& config) {
  return range_bn_statistics(x, RangeBnRegisters(static_cast<std::int64_t>(x.size()), config));
}

RangeBnSaved range_bn_statistics(std::span<const float> x, const RangeBnRegisters& registers) {
  const std::int64_t length = part_length(std::ssize(x), registers.parts);
  RangeBnSums sums;
  RangeBnSums total;
  RangeBnSaved saved;
  for (std::int64_t i = 0; i < std::ssize(x); ++i) {
    const std::int64_t place = i % registers.chunk_length;
    const bool ends = place + 1 == registers.chunk_length;
    sums.add(x[i], i, place == 0, ends);
    if (ends) {
      saved.argmax.push_back(sums.argmax);
      saved.argmin.push_back(sums.argmin);
    }
    if ((i + 1) % length == 0) sums.end_part(total);
  }
  saved.mean = f32::mul(total.x, reciprocal_of(std::ssize(x)));
  saved.inv = range_bn_inv(total.maxima, total.minima, total.has_nan, registers);
  return saved;
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

RangeBnGradients range_bn_backward(std::span<const float> x, std::span<const float> g, float gamma,
                                   const RangeBnSaved& saved, const RangeBnConfig& config,
                                   std::span<float> dx) {
  check_channel(x.size(), g.size());
  check_channel(x.size(), dx.size());
  const auto n = static_cast<std::int64_t>(x.size());
  check_range_bn_saved(saved, n, config.chunks);
  const RangeBnRegisters registers(n, config);
  const GradientSums sums = gradient_sums(x, g, gamma, saved.mean, saved.inv, registers.parts);
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
  return {{sums.g_xhat, sums.g}, correction};
}

}  // namespace mantissa
