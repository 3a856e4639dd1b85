// Range BN's contract once more, in plain IEEE hardware floats with constants from MPFR. (ARITHMETIC.md 8)
#pragma once

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/norm/range_bn.hpp"
#include "testbench/models/norm/channel_data.hpp"

namespace mantissa::test {

inline float mpfr_range_constant(long n, RangeConstant kind) {
  mpfr_t c;
  mpfr_t f;
  mpfr_inits2(200, c, f, nullptr);
  mpfr_set_str(f, kind == RangeConstant::paper ? "1" : "0.540208", 10, MPFR_RNDN);
  mpfr_set_si(c, n, MPFR_RNDN);
  mpfr_log(c, c, MPFR_RNDN);
  mpfr_mul_2ui(c, c, 1, MPFR_RNDN);
  mpfr_sqrt(c, c, MPFR_RNDN);
  mpfr_div(c, f, c, MPFR_RNDN);
  const float result = mpfr_get_flt(c, MPFR_RNDN);
  mpfr_clears(c, f, nullptr);
  return result;
}

// Terms into the part where their places are, then part by part.
class StraightSum {
 public:
  StraightSum(std::size_t n, std::size_t parts) : length_(n / parts), sums_(parts, 0.0F) {}
  void add(std::size_t place, float term) { sums_.at(place / length_) += term; }
  float total() const {
    float total = 0.0F;
    for (const float sum : sums_) total += sum;
    return total;
  }

 private:
  std::size_t length_;
  std::vector<float> sums_;
};

struct Straight {
  float mean, inv;
  std::vector<std::size_t> argmax, argmin;
};

inline Straight straight_statistics(const std::vector<float>& x, std::size_t k, float c,
                                    std::size_t parts = 1) {
  const std::size_t n = x.size();
  const std::size_t length = n / k;
  Straight out{};
  StraightSum sum(n, parts);
  StraightSum highs(n, parts);
  StraightSum lows(n, parts);
  bool poisoned = false;
  for (std::size_t i = 0; i < n; ++i) {
    sum.add(i, x[i]);
    poisoned |= x[i] != x[i];
  }
  for (std::size_t j = 0; j < k; ++j) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(j * length);
    const auto last = first + static_cast<std::ptrdiff_t>(length);
    const auto high = std::max_element(first, last);
    const auto low = std::min_element(first, last);
    highs.add((j + 1) * length - 1, *high);
    lows.add((j + 1) * length - 1, *low);
    out.argmax.push_back(high - x.begin());
    out.argmin.push_back(low - x.begin());
  }
  const float rk = 1.0F / static_cast<float>(k);
  const float range =
      poisoned ? std::numeric_limits<float>::quiet_NaN() : highs.total() * rk - lows.total() * rk;
  out.mean = sum.total() * (1.0F / static_cast<float>(n));
  out.inv = 1.0F / (range * c + 1e-5F);
  return out;
}

inline std::vector<float> straight_normalise(const std::vector<float>& x, const Straight& s, float gamma,
                                             float beta) {
  std::vector<float> y;
  y.reserve(x.size());
  for (const float value : x) y.push_back(std::fma((value - s.mean) * s.inv, gamma, beta));
  return y;
}

inline std::vector<float> straight_backward(const std::vector<float>& x, const std::vector<float>& g,
                                            float gamma, const Straight& saved, float c, float& dgamma,
                                            float& dbeta, std::size_t parts = 1) {
  const auto n = static_cast<float>(x.size());
  StraightSum sg(x.size(), parts);
  StraightSum sgx(x.size(), parts);
  StraightSum sh(x.size(), parts);
  StraightSum shx(x.size(), parts);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float xhat = (x[i] - saved.mean) * saved.inv;
    const float h = gamma * g[i];
    sg.add(i, g[i]);
    sgx.add(i, g[i] * xhat);
    sh.add(i, h);
    shx.add(i, h * xhat);
  }
  dbeta = sg.total();
  dgamma = sgx.total();
  const float ds = -shx.total() * saved.inv;
  const float mh = sh.total() * (1.0F / n);
  const float t = (c * ds) * (1.0F / static_cast<float>(saved.argmax.size()));
  std::vector<float> dx(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    dx[i] = (gamma * g[i] - mh) * saved.inv;
    for (std::size_t j = 0; j < saved.argmax.size(); ++j) {
      if (saved.argmax[j] == saved.argmin[j]) continue;
      if (saved.argmax[j] == i) dx[i] += t;
      if (saved.argmin[j] == i) dx[i] -= t;
    }
  }
  return dx;
}

inline void expect_equals_straight(const std::vector<float>& x, const std::vector<float>& g, float gamma,
                                   float beta, const RangeBnConfig& config) {
  const long length = static_cast<long>(x.size()) / config.chunks;
  const float c = mpfr_range_constant(length, config.constant);
  std::vector<float> y(x.size());
  const RangeBnSaved saved = range_bn_forward(x, gamma, beta, config, y);
  const Straight expected = straight_statistics(x, config.chunks, c, config.parts);
  const std::vector<float> y_expected = straight_normalise(x, expected, gamma, beta);
  ASSERT_EQ(bits_of(saved.mean), bits_of(expected.mean));
  ASSERT_EQ(bits_of(saved.inv), bits_of(expected.inv));
  ASSERT_TRUE(
      std::equal(saved.argmax.begin(), saved.argmax.end(), expected.argmax.begin(), expected.argmax.end()));
  ASSERT_TRUE(
      std::equal(saved.argmin.begin(), saved.argmin.end(), expected.argmin.begin(), expected.argmin.end()));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(bits_of(y[i]), bits_of(y_expected[i])) << i;

  std::vector<float> dx(x.size());
  const NormGradients gradients = range_bn_backward(x, g, gamma, saved, config, dx);
  float dgamma = 0.0F;
  float dbeta = 0.0F;
  const std::vector<float> dx_expected =
      straight_backward(x, g, gamma, expected, c, dgamma, dbeta, config.parts);
  ASSERT_EQ(bits_of(gradients.gamma), bits_of(dgamma));
  ASSERT_EQ(bits_of(gradients.beta), bits_of(dbeta));
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(bits_of(dx[i]), bits_of(dx_expected[i])) << i;
}

}  // namespace mantissa::test
