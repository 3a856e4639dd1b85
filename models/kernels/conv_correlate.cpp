#include "models/kernels/conv_passes.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/conv_correlate.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/conv_correlate-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// FP32 sums are the outputs.
struct FloatEnding {
  using Sum = float;
  template <class D>
  HWY_INLINE hn::VFromD<D> Output(D d, std::size_t /*channel*/, std::size_t /*lane*/,
                                  hn::VFromD<D> sum) const {
    return Finished(d, sum);
  }
};
struct FloatEndings {
  using Ending = FloatEnding;
  void Prepare(std::size_t /*slot*/, std::size_t /*group*/, std::size_t /*part*/, const float* /*image*/) {}
  FloatEnding For(std::size_t /*slot*/, std::size_t /*channel*/) const { return {}; }
};

void FloatCorrelate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups,
                    std::span<const float> source, std::span<const float> w, std::span<float> out,
                    int threads) {
  const AlignedBuffer<float> weights = PackWeights<float, float>(plan, groups, w.data(), w.size() / groups);
  parallel_ranges(batch * groups, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    Correlator<float, FloatEndings> correlator(plan, {}, 0.0F);
    CorrelateImages(correlator, plan, groups, source.data(), weights.data(), begin, end, out.data());
  });
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(FloatCorrelate);

void correlate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, std::span<const float> source,
               std::span<const float> w, std::span<float> out, int threads) {
  HWY_DYNAMIC_DISPATCH(FloatCorrelate)(plan, batch, groups, source, w, out, threads);
}

}  // namespace mantissa::kernels
#endif
