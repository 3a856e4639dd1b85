// Range BN's contract once more, in plain IEEE hardware floats with constants from MPFR. (ARITHMETIC.md 8)
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "models/norm/range_bn.hpp"

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

struct Straight {
  float mean, inv;
  std::vector<std::size_t> argmax, argmin;
};

inline Straight straight_statistics(const std::vector<float>& x, std::size_t k, float c) {
  const std::size_t n = x.size();
  const std::size_t length = n / k;
  Straight out{};
  float sum = 0.0F;
  float highs = 0.0F;
  float lows = 0.0F;
  bool poisoned = false;
  for (std::size_t i = 0; i < n; ++i) {
    sum += x[i];
    poisoned |= x[i] != x[i];
  }
  for (std::size_t j = 0; j < k; ++j) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(j * length);
    const auto last = first + static_cast<std::ptrdiff_t>(length);
    const auto high = std::max_element(first, last);
    const auto low = std::min_element(first, last);
    highs += *high;
    lows += *low;
    out.argmax.push_back(high - x.begin());
    out.argmin.push_back(low - x.begin());
  }
  const float rk = 1.0F / static_cast<float>(k);
  const float range = poisoned ? std::numeric_limits<float>::quiet_NaN() : highs * rk - lows * rk;
  out.mean = sum * (1.0F / static_cast<float>(n));
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
                                            float& dbeta) {
  const auto n = static_cast<float>(x.size());
  float sh = 0.0F;
  float shx = 0.0F;
  dgamma = dbeta = 0.0F;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float xhat = (x[i] - saved.mean) * saved.inv;
    const float h = gamma * g[i];
    dbeta += g[i];
    dgamma += g[i] * xhat;
    sh += h;
    shx += h * xhat;
  }
  const float ds = -shx * saved.inv;
  const float mh = sh * (1.0F / n);
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

}  // namespace mantissa::test
