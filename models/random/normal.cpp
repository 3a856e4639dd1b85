#include "models/random/normal.hpp"

#include <boost/math/distributions/normal.hpp>

namespace mantissa {
namespace {

// Boost would compute in long double for one place more, at a third of the speed.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Normal = boost::math::normal_distribution<double, Policy>;

}  // namespace

double normal_cdf(double z) { return cdf(Normal(), z); }

double normal_quantile(double p) { return quantile(Normal(), p); }

}  // namespace mantissa
