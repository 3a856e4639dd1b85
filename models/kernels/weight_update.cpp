#include "models/kernels/weight_update.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <variant>

#include "models/kernels/conversion_grid.hpp"
#include "models/kernels/draw_blocks.hpp"
#include "models/quantize/rounding_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/weight_update.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/quantize_lanes-inl.hpp"

#ifndef MANTISSA_KERNELS_WEIGHT_UPDATE_ONCE
#define MANTISSA_KERNELS_WEIGHT_UPDATE_ONCE
namespace mantissa::kernels {

// The numbers of a step, the unscaling as the factor that it is: 2^-128 .. 2^127 are FP32 numbers.
struct UpdateFactors {
  float unscale;
  float decay;
  float momentum;
  float minus_rate;
};

}  // namespace mantissa::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using V = hn::VFromD<DF>;

// ARITHMETIC.md 11, without the store.
struct UpdateStep {
  V unscale, decay, keep, minus_rate;
  explicit UpdateStep(const UpdateFactors& f)
      : unscale(hn::Set(DF(), f.unscale)),
        decay(hn::Set(DF(), f.decay)),
        keep(hn::Set(DF(), f.momentum)),
        minus_rate(hn::Set(DF(), f.minus_rate)) {}

  // m', then w'.
  HWY_INLINE V Momentum(V w, V m, V g) const {
    return Canonical(FusedMulAdd(keep, m, FusedMulAdd(decay, w, hn::Mul(g, unscale))));
  }
  HWY_INLINE V Weight(V w, V next_m) const { return Canonical(FusedMulAdd(minus_rate, next_m, w)); }
};

// FP16 codes as FP32 numbers: exact.
HWY_INLINE V Widened(const ValueSink& fp16, VU code) {
  const VU magnitude = hn::And(code, Const(formats::fp16.magnitude_mask()));
  const VU special = hn::Or(hn::ShiftLeft<13>(magnitude), Const(0x7F800000U));
  const MU is_special = IsGreater(magnitude, Const(formats::fp16.max_code()));
  const VU pattern = hn::IfThenElse(is_special, special, fp16.Pattern(magnitude));
  return hn::BitCast(DF(), hn::Or(pattern, hn::ShiftLeft<16>(hn::Xor(code, magnitude))));
}

// count is a multiple of the lanes.
template <bool random, class Rounder>
HWY_INLINE void UpdateWhole(const Rounder& rounder, const ConversionGrid& g, const UpdateFactors& factors,
                            std::uint16_t* weight, float* momentum, const float* gradient,
                            const std::uint32_t* draw, std::size_t count) {
  const DU du;
  const DF df;
  const hn::Rebind<std::uint16_t, DU> d16;
  const UpdateStep step(factors);
  const CodeSink<std::uint16_t> sink(g, weight);
  const ValueSink fp16(g, EndPatterns{}, nullptr);
  for (std::size_t i = 0; i < count; i += hn::Lanes(du)) {
    const V w = Widened(fp16, hn::PromoteTo(du, hn::LoadU(d16, weight + i)));
    const V m = step.Momentum(w, hn::LoadU(df, momentum + i), hn::LoadU(df, gradient + i));
    hn::StoreU(m, df, momentum + i);
    const VU bits = hn::BitCast(du, step.Weight(w, m));
    const VU a = hn::And(bits, Const(0x7FFFFFFFU));
    const VU word = random ? hn::LoadU(du, draw + i) : hn::Zero(du);
    const VU code = rounder.template Round<false>(a, word).code;
    const MU over = IsGreater(code, Const(g.max));
    CodeSink<std::uint16_t>::Put(FinishLanes<true>(g, sink.ends, bits, a, code, over), weight + i);
  }
}

template <bool random, class Rounder>
HWY_INLINE void UpdateAny(const Rounder& rounder, const ConversionGrid& g, const UpdateFactors& factors,
                          std::uint16_t* weight, float* momentum, const float* gradient,
                          const std::uint32_t* draw, std::size_t count) {
  constexpr std::size_t max_lanes = hn::MaxLanes(DU());
  const std::size_t lanes = hn::Lanes(DU());
  const std::size_t whole = count / lanes * lanes;
  UpdateWhole<random>(rounder, g, factors, weight, momentum, gradient, draw, whole);
  if (whole == count) return;
  std::uint16_t last_weight[max_lanes] = {};
  float last_momentum[max_lanes] = {};
  float last_gradient[max_lanes] = {};
  std::uint32_t last_draw[max_lanes] = {};
  std::copy(weight + whole, weight + count, last_weight);
  std::copy(momentum + whole, momentum + count, last_momentum);
  std::copy(gradient + whole, gradient + count, last_gradient);
  if (random) std::copy(draw + whole, draw + count, last_draw);
  UpdateWhole<random>(rounder, g, factors, last_weight, last_momentum, last_gradient, last_draw, lanes);
  std::copy(last_weight, last_weight + (count - whole), weight + whole);
  std::copy(last_momentum, last_momentum + (count - whole), momentum + whole);
}

void UpdateFp16(const ConversionGrid& g, Rounding rounding, const UpdateFactors& factors,
                std::uint16_t* weight, float* momentum, const float* gradient, const std::uint32_t* draw,
                std::size_t count) {
  visit_rounding(rounding.mode, [&](auto mode) HWY_ATTR {
    constexpr Mode constant = decltype(mode)::value;
    UpdateAny<traits_of(constant).draws>(RounderOf<constant>(g, rounding), g, factors, weight, momentum,
                                         gradient, draw, count);
  });
}

void UpdateFp32(const UpdateFactors& factors, float* weight, float* momentum, const float* gradient,
                std::size_t count) {
  const DF df;
  const UpdateStep step(factors);
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V w = hn::LoadU(df, weight + i);
    const V m = step.Momentum(w, hn::LoadU(df, momentum + i), hn::LoadU(df, gradient + i));
    hn::StoreU(m, df, momentum + i);
    hn::StoreU(step.Weight(w, m), df, weight + i);
  }
  if (i < count) {
    const std::size_t left = count - i;
    const V w = LoadFirst(df, weight + i, left);
    const V m = step.Momentum(w, LoadFirst(df, momentum + i, left), LoadFirst(df, gradient + i, left));
    StoreFirst(m, df, momentum + i, left);
    StoreFirst(step.Weight(w, m), df, weight + i, left);
  }
}

bool AnyNonfinite(const float* in, std::size_t count) {
  const DF df;
  const std::size_t lanes = hn::Lanes(df);
  const auto infinity = hn::Inf(df);
  const auto zero = hn::Zero(df);
  // Where a number is not below Inf, that includes NaN, the mark is set.
  auto mark = zero;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    mark = hn::IfThenElse(hn::Lt(hn::Abs(hn::LoadU(df, in + i)), infinity), mark, infinity);
  }
  if (i < count) {
    mark = hn::IfThenElse(hn::Lt(hn::Abs(LoadFirst(df, in + i, count - i)), infinity), mark, infinity);
  }
  return !hn::AllTrue(df, hn::Eq(mark, zero));
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(UpdateFp16);
HWY_EXPORT(UpdateFp32);
HWY_EXPORT(AnyNonfinite);

UpdateFactors factors_of(const WeightUpdateConfig& config) {
  const auto* by_factor = std::get_if<UnscaleByFactor>(&config.unscale);
  const float unscale = by_factor != nullptr
                            ? by_factor->factor
                            : std::ldexp(1.0F, -std::get<UnscaleByExponent>(config.unscale).exponent);
  return {unscale, config.weight_decay, config.momentum, -config.learning_rate};
}

}  // namespace

bool has_nonfinite(std::span<const float> gradient, int threads) {
  std::atomic<bool> found = false;
  parallel_ranges(static_cast<std::int64_t>(gradient.size()), worth_a_thread, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    if (HWY_DYNAMIC_DISPATCH(AnyNonfinite)(gradient.data() + begin, end - begin))
                      found = true;
                  });
  return found;
}

bool update_weights(std::span<std::uint16_t> weights, std::span<float> momentum,
                    std::span<const float> gradient, const WeightUpdateConfig& config,
                    const DrawSource& draws, int threads) {
  config.check();
  check_update_sizes(weights.size(), momentum.size(), gradient.size());
  const RoundingDraws checked(config.rounding, draws);  // refuses what the scalar model refuses
  if (has_nonfinite(gradient, threads)) return false;
  const ConversionGrid grid = grid_of({.to = formats::fp16, .rounding = config.rounding});
  const UpdateFactors factors = factors_of(config);
  const auto kernel = HWY_DYNAMIC_DISPATCH(UpdateFp16);
  const auto run = [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
    kernel(grid, config.rounding, factors, weights.data() + first, momentum.data() + first,
           gradient.data() + first, draw, count);
  };
  const bool random = config.rounding.stochastic();
  parallel_ranges(static_cast<std::int64_t>(weights.size()), random ? draw_block(draws) : worth_a_thread,
                  threads, [&](std::int64_t begin, std::int64_t end) {
                    if (!random) return run(nullptr, begin, end - begin);
                    for_draw_blocks(draws, begin, end, run);
                  });
  return true;
}

bool update_weights_fp32(std::span<float> weights, std::span<float> momentum, std::span<const float> gradient,
                         const WeightUpdateConfig& config, int threads) {
  config.check();
  check_update_sizes(weights.size(), momentum.size(), gradient.size());
  if (has_nonfinite(gradient, threads)) return false;
  const UpdateFactors factors = factors_of(config);
  const auto kernel = HWY_DYNAMIC_DISPATCH(UpdateFp32);
  parallel_ranges(static_cast<std::int64_t>(weights.size()), worth_a_thread, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    kernel(factors, weights.data() + begin, momentum.data() + begin, gradient.data() + begin,
                           end - begin);
                  });
  return true;
}

}  // namespace mantissa::kernels
#endif
