// The normal distribution against MPFR's error function.
#include "models/random/normal.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>
#include <limits>
#include <vector>

#include "models/random/stream.hpp"

namespace mantissa {
namespace {

// The share below z, to 200 bits; comparisons with doubles are exact.
class Share {
 public:
  explicit Share(double z) {
    mpfr_inits2(200, share_, root_, nullptr);
    mpfr_sqrt_ui(root_, 2, MPFR_RNDN);
    mpfr_set_d(share_, -z, MPFR_RNDN);
    mpfr_div(share_, share_, root_, MPFR_RNDN);
    mpfr_erfc(share_, share_, MPFR_RNDN);
    mpfr_div_2ui(share_, share_, 1, MPFR_RNDN);
  }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { mpfr_clears(share_, root_, nullptr); }

  bool below(double p) const { return mpfr_cmp_d(share_, p) < 0; }
  double relative_error(double p) const {
    mpfr_d_sub(root_, p, share_, MPFR_RNDN);
    mpfr_div(root_, root_, share_, MPFR_RNDN);
    return std::fabs(mpfr_get_d(root_, MPFR_RNDN));
  }

 private:
  mutable mpfr_t root_;
  mpfr_t share_;
};

TEST(Normal, SharesAreRightToTheLastPlaces) {
  // Where z is rounded in its last place, the share moves by z^2 last places.
  for (int i = -1170; i <= 280; ++i) {
    const double z = 0.0317 * i;
    ASSERT_LT(Share(z).relative_error(normal_cdf(z)), 3 * (1 + z * z) * 0x1p-52) << z;
  }
  EXPECT_EQ(normal_cdf(0), 0.5);
  EXPECT_EQ(normal_cdf(std::numeric_limits<double>::infinity()), 1);
  EXPECT_EQ(normal_cdf(-std::numeric_limits<double>::infinity()), 0);
}

TEST(Normal, QuantilesAreWithinFourLastPlaces) {
  std::vector<double> shares;
  for (int i = 2; i < 54; ++i) {
    for (const double tail : {std::ldexp(1, -i), std::ldexp(1.3, -i)})
      shares.insert(shares.end(), {tail, 1 - tail});
  }
  for (std::uint64_t i = 0; i < 20000; ++i)
    shares.push_back((static_cast<double>(mix(i) >> 12) + 0.5) * 0x1p-52);
  for (const double p : shares) {
    const double z = normal_quantile(p);
    const double places = 4 * (std::nextafter(std::fabs(z), 10.0) - std::fabs(z));
    ASSERT_TRUE(Share(z - places).below(p)) << p;
    ASSERT_FALSE(Share(z + places).below(p)) << p;
  }
  EXPECT_EQ(normal_quantile(0.5), 0);
}

}  // namespace
}  // namespace mantissa
