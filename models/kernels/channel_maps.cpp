#include "models/kernels/channel_maps.hpp"

#include <algorithm>

#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/channel_maps.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/float_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::VFromD<D>;

struct NormaliseMap {
  V mean, inv, gamma, beta;
  explicit NormaliseMap(const Normalisation& c)
      : mean(hn::Set(D(), c.mean)),
        inv(hn::Set(D(), c.inv)),
        gamma(hn::Set(D(), c.gamma)),
        beta(hn::Set(D(), c.beta)) {}
  HWY_INLINE V operator()(V x) const { return FusedMulAdd(hn::Mul(hn::Sub(x, mean), inv), gamma, beta); }
};

struct BatchNormGradientMap {
  V mean, inv, gamma, mean_h, mean_h_xhat;
  explicit BatchNormGradientMap(const BatchNormGradient& c)
      : mean(hn::Set(D(), c.mean)),
        inv(hn::Set(D(), c.inv)),
        gamma(hn::Set(D(), c.gamma)),
        mean_h(hn::Set(D(), c.mean_h)),
        mean_h_xhat(hn::Set(D(), c.mean_h_xhat)) {}
  HWY_INLINE V operator()(V x, V g) const {
    const V centred = hn::Sub(hn::Mul(gamma, g), mean_h);
    const V along = hn::Mul(hn::Mul(hn::Sub(x, mean), inv), mean_h_xhat);
    return hn::Mul(hn::Sub(centred, along), inv);
  }
};

struct RangeBnGradientMap {
  V inv, gamma, mean_h;
  explicit RangeBnGradientMap(const RangeBnGradient& c)
      : inv(hn::Set(D(), c.inv)), gamma(hn::Set(D(), c.gamma)), mean_h(hn::Set(D(), c.mean_h)) {}
  HWY_INLINE V operator()(V g) const { return hn::Mul(hn::Sub(hn::Mul(gamma, g), mean_h), inv); }
};

template <class Map, class... In>
HWY_INLINE void MapRun(const Map& map, float* out, std::int64_t count, const In*... in) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(Canonical(map(hn::LoadU(d, in + i)...)), d, out + i);
  if (i < count) {
    StoreFirst(Canonical(map(LoadFirst(d, in + i, count - i)...)), d, out + i, count - i);
  }
}

// Runs begin .. end - 1 of the tensor; run r is of channel r mod channels.
template <class Map, class Channel, class... In>
HWY_INLINE void MapRuns(const NormShape& shape, const Channel* channels, std::int64_t begin, std::int64_t end,
                        float* out, const In*... in) {
  for (std::int64_t run = begin; run < end; ++run) {
    const std::int64_t at = run * shape.spatial;
    MapRun(Map(channels[run % shape.channels]), out + at, shape.spatial, in + at...);
  }
}

void NormaliseRuns(const float* x, const NormShape& shape, const Normalisation* channels, float* y,
                   std::int64_t begin, std::int64_t end) {
  MapRuns<NormaliseMap>(shape, channels, begin, end, y, x);
}
void BatchNormGradientRuns(const float* x, const float* g, const NormShape& shape,
                           const BatchNormGradient* channels, float* dx, std::int64_t begin,
                           std::int64_t end) {
  MapRuns<BatchNormGradientMap>(shape, channels, begin, end, dx, x, g);
}
void RangeBnGradientRuns(const float* g, const NormShape& shape, const RangeBnGradient* channels, float* dx,
                         std::int64_t begin, std::int64_t end) {
  MapRuns<RangeBnGradientMap>(shape, channels, begin, end, dx, g);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(NormaliseRuns);
HWY_EXPORT(BatchNormGradientRuns);
HWY_EXPORT(RangeBnGradientRuns);

template <class Body>
void for_runs(const NormShape& shape, int threads, const Body& body) {
  const std::int64_t grain = std::max<std::int64_t>(worth_a_thread / shape.spatial, 1);
  parallel_ranges(shape.batch * shape.channels, grain, threads, body);
}

}  // namespace

void normalise_tensor(std::span<const float> x, const NormShape& shape,
                      std::span<const Normalisation> channels, std::span<float> y, int threads) {
  const auto runs = HWY_DYNAMIC_DISPATCH(NormaliseRuns);
  for_runs(shape, threads, [&](std::int64_t begin, std::int64_t end) {
    runs(x.data(), shape, channels.data(), y.data(), begin, end);
  });
}

void batch_norm_gradient(std::span<const float> x, std::span<const float> g, const NormShape& shape,
                         std::span<const BatchNormGradient> channels, std::span<float> dx, int threads) {
  const auto runs = HWY_DYNAMIC_DISPATCH(BatchNormGradientRuns);
  for_runs(shape, threads, [&](std::int64_t begin, std::int64_t end) {
    runs(x.data(), g.data(), shape, channels.data(), dx.data(), begin, end);
  });
}

void range_bn_gradient(std::span<const float> g, const NormShape& shape,
                       std::span<const RangeBnGradient> channels, std::span<float> dx, int threads) {
  const auto runs = HWY_DYNAMIC_DISPATCH(RangeBnGradientRuns);
  for_runs(shape, threads, [&](std::int64_t begin, std::int64_t end) {
    runs(g.data(), shape, channels.data(), dx.data(), begin, end);
  });
}

}  // namespace mantissa::kernels
#endif
