#include "models/kernels/gemmlowp.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "models/kernels/draw_blocks.hpp"
#include "models/quantize/rounding_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/gemmlowp.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/float_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Mode = Rounding::Mode;
using D = hn::ScalableTag<float>;
using DI = hn::RebindToSigned<D>;
using V = hn::VFromD<D>;
using VI = hn::VFromD<DI>;

// Where values go: to integers, or to integers and back.
struct CodeSink {
  std::uint16_t* code;
  using D16 = hn::Rebind<std::uint16_t, D>;
  HWY_INLINE void Put(std::size_t i, VI q) const {
    hn::StoreU(hn::TruncateTo(D16(), hn::BitCast(hn::RebindToUnsigned<DI>(), q)), D16(), code + i);
  }
  HWY_INLINE void PutFirst(std::size_t i, VI q, std::size_t count) const {
    std::uint16_t last[hn::MaxLanes(D())];
    CodeSink{last}.Put(0, q);
    std::copy(last, last + count, code + i);
  }
};

struct ValueSink {
  float* value;
  V scale, min;
  ValueSink(const GemmlowpRange& range, float* to)
      : value(to), scale(hn::Set(D(), range.scale)), min(hn::Set(D(), range.min)) {}
  HWY_INLINE V Back(VI q) const { return Canonical(hn::Add(hn::Mul(hn::ConvertTo(D(), q), scale), min)); }
  HWY_INLINE void Put(std::size_t i, VI q) const { hn::StoreU(Back(q), D(), value + i); }
  HWY_INLINE void PutFirst(std::size_t i, VI q, std::size_t count) const {
    StoreFirst(Back(q), D(), value + i, count);
  }
};

// Steps are clamped before they are rounded: rounding is monotone, and both ends are integers.
template <Mode mode>
struct GemmlowpRounder {
  V min, inv, top, to_integer, ones;
  VI integer_bits, random_mask, all;

  GemmlowpRounder(const GemmlowpRange& range, Rounding rounding)
      : min(hn::Set(D(), range.min)),
        inv(hn::Set(D(), range.inv)),
        top(hn::Set(D(), static_cast<float>(range.top()))),
        to_integer(hn::Set(D(), 0x1p23F)),
        ones(hn::Set(D(), std::ldexp(1.0F, rounding.random_bits))),
        integer_bits(hn::BitCast(DI(), to_integer)),
        random_mask(hn::Set(DI(), static_cast<std::int32_t>((1U << rounding.random_bits) - 1))),
        all(hn::Set(DI(), static_cast<std::int32_t>(1U << rounding.random_bits))) {}

  HWY_INLINE V Steps(V x) const { return hn::Mul(hn::Sub(x, min), inv); }

  HWY_INLINE VI Round(V steps, VI draw) const {
    const D d;
    const DI di;
    // A NaN becomes 0.
    const V t = hn::Min(hn::IfThenElseZero(hn::Gt(steps, hn::Zero(d)), steps), top);
    if constexpr (mode == Mode::rne) {
      // The last place of the sum is 1.
      return hn::Sub(hn::BitCast(di, hn::Add(t, to_integer)), integer_bits);
    } else {
      const VI whole = hn::ConvertTo(di, t);
      const V fraction = hn::Sub(t, hn::ConvertTo(d, whole));  // exact
      return hn::Add(whole, Up(fraction, draw));
    }
  }

  // 1 where the integer above is taken, else 0 (ARITHMETIC.md 2).
  HWY_INLINE VI Up(V fraction, VI draw) const {
    const DI di;
    if constexpr (mode == Mode::rtz) {
      return hn::Zero(di);
    } else if constexpr (mode == Mode::rna || mode == Mode::rnz) {
      const V half = hn::Set(D(), 0.5F);
      const auto up = mode == Mode::rna ? hn::Ge(fraction, half) : hn::Gt(fraction, half);
      return hn::IfThenElseZero(hn::RebindMask(di, up), hn::Set(di, 1));
    } else {
      static_assert(mode == Mode::sr);
      const VI f = hn::ConvertTo(di, hn::Mul(fraction, ones));
      const auto below = hn::Lt(hn::Add(f, hn::And(draw, random_mask)), all);
      return hn::IfThenZeroElse(below, hn::Set(di, 1));
    }
  }
};

template <Mode mode, class Sink>
HWY_INLINE std::uint64_t RoundRow(const GemmlowpRange& range, Rounding rounding, const Sink& sink,
                                  const float* in, const std::uint32_t* draw, std::size_t count) {
  const D d;
  const DI di;
  constexpr bool random = traits_of(mode).draws;
  const GemmlowpRounder<mode> rounder(range, rounding);
  const auto* words = reinterpret_cast<const std::int32_t*>(draw);
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t invalid = 0;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const V steps = rounder.Steps(hn::LoadU(d, in + i));
    invalid += hn::CountTrue(d, hn::IsNaN(steps));
    sink.Put(i, rounder.Round(steps, random ? hn::LoadU(di, words + i) : hn::Zero(di)));
  }
  if (i < count) {
    const std::size_t left = count - i;
    const V steps = rounder.Steps(LoadFirst(d, in + i, left));
    invalid += hn::CountTrue(d, hn::And(hn::FirstN(d, left), hn::IsNaN(steps)));
    sink.PutFirst(i, rounder.Round(steps, random ? LoadFirst(di, words + i, left) : hn::Zero(di)), left);
  }
  return invalid;
}

template <class Sink>
HWY_INLINE std::uint64_t RoundAny(const GemmlowpRange& range, Rounding rounding, const Sink& sink,
                                  const float* in, const std::uint32_t* draw, std::size_t count) {
  return visit_rounding(rounding.mode, [&](auto mode) HWY_ATTR {
    const Sink own_sink = sink;  // a copy, which stores cannot change
    return RoundRow<decltype(mode)::value>(range, rounding, own_sink, in, draw, count);
  });
}

std::uint64_t GemmlowpCodes(const GemmlowpRange& range, Rounding rounding, const float* in,
                            const std::uint32_t* draw, std::uint16_t* out, std::size_t count) {
  return RoundAny(range, rounding, CodeSink{out}, in, draw, count);
}
std::uint64_t GemmlowpValues(const GemmlowpRange& range, Rounding rounding, const float* in,
                             const std::uint32_t* draw, float* out, std::size_t count) {
  return RoundAny(range, rounding, ValueSink(range, out), in, draw, count);
}

void GemmlowpBack(const GemmlowpRange& range, const std::uint16_t* code, float* out, std::size_t count) {
  const DI di;
  const hn::Rebind<std::uint16_t, DI> d16;
  const ValueSink sink(range, out);
  const std::size_t lanes = hn::Lanes(di);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) sink.Put(i, hn::PromoteTo(di, hn::LoadU(d16, code + i)));
  if (i < count) {
    std::uint16_t last[hn::MaxLanes(D())] = {};
    std::copy(code + i, code + count, last);
    sink.PutFirst(i, hn::PromoteTo(di, hn::LoadU(d16, last)), count - i);
  }
}

// Of the finite elements: +Inf and -Inf where there is none.
void FiniteExtremes(const float* in, std::size_t count, float* min, float* max) {
  const D d;
  const V infinity = hn::Inf(d);
  const std::size_t lanes = hn::Lanes(d);
  V lowest = infinity;
  V highest = hn::Neg(infinity);
  const auto take = [&](V x) HWY_ATTR {
    const auto finite = hn::Lt(hn::Abs(x), infinity);
    lowest = hn::Min(lowest, hn::IfThenElse(finite, x, infinity));
    highest = hn::Max(highest, hn::IfThenElse(finite, x, hn::Neg(infinity)));
  };
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) take(hn::LoadU(d, in + i));
  if (i < count) {
    take(hn::IfThenElse(hn::FirstN(d, count - i), LoadFirst(d, in + i, count - i), infinity));
  }
  *min = hn::GetLane(hn::MinOfLanes(d, lowest));
  *max = hn::GetLane(hn::MaxOfLanes(d, highest));
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(GemmlowpCodes);
HWY_EXPORT(GemmlowpValues);
HWY_EXPORT(GemmlowpBack);
HWY_EXPORT(FiniteExtremes);

void check_lengths(std::size_t in, std::size_t out) {
  if (in != out) {
    throw std::invalid_argument(std::to_string(in) + " elements do not fit " + std::to_string(out));
  }
}

// F + R must fit 31 bits.
bool vectorised(Rounding rounding) { return rounding.random_bits <= 30; }

// run(draws, first element, elements) returns how many were invalid.
template <class Run>
std::uint64_t for_elements(std::int64_t count, Rounding rounding, const DrawSource& draws, int threads,
                           const Run& run) {
  const RoundingDraws checked(rounding, draws);  // refuses what the scalar model refuses
  std::atomic<std::uint64_t> invalid = 0;
  if (!rounding.stochastic()) {
    parallel_ranges(count, worth_a_thread, threads, [&](std::int64_t begin, std::int64_t end) {
      invalid += run(nullptr, begin, end - begin);
    });
    return invalid;
  }
  parallel_ranges(count, draw_block(draws), threads, [&](std::int64_t begin, std::int64_t end) {
    for_draw_blocks(draws, begin, end, [&](const std::uint32_t* draw, std::int64_t first, std::int64_t size) {
      invalid += run(draw, first, size);
    });
  });
  return invalid;
}

// Among zeros of both signs the first counts.
float with_first_sign(float extreme, std::span<const float> values) {
  return extreme == 0 ? *std::find(values.begin(), values.end(), 0.0F) : extreme;
}

}  // namespace

GemmlowpRange gemmlowp_range(std::span<const float> values, int bits, int threads) {
  float min = std::numeric_limits<float>::infinity();
  float max = -min;
  std::mutex merge;
  parallel_ranges(static_cast<std::int64_t>(values.size()), worth_a_thread, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    float lowest = 0;
                    float highest = 0;
                    HWY_DYNAMIC_DISPATCH(FiniteExtremes)
                    (values.data() + begin, end - begin, &lowest, &highest);
                    const std::lock_guard lock(merge);
                    min = std::min(min, lowest);
                    max = std::max(max, highest);
                  });
  if (min > max) return GemmlowpRange::between(0, 0, bits);
  return GemmlowpRange::between(with_first_sign(min, values), with_first_sign(max, values), bits);
}

std::uint64_t gemmlowp_quantize(std::span<const float> values, const GemmlowpRange& range, Rounding rounding,
                                const DrawSource& draws, std::span<std::uint16_t> codes, int threads) {
  if (!vectorised(rounding)) return mantissa::gemmlowp_quantize(values, range, rounding, draws, codes);
  check_lengths(values.size(), codes.size());
  const auto row = HWY_DYNAMIC_DISPATCH(GemmlowpCodes);
  return for_elements(static_cast<std::int64_t>(values.size()), rounding, draws, threads,
                      [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
                        return row(range, rounding, values.data() + first, draw, codes.data() + first, count);
                      });
}

void gemmlowp_dequantize(std::span<const std::uint16_t> codes, const GemmlowpRange& range,
                         std::span<float> values, int threads) {
  check_lengths(codes.size(), values.size());
  const auto row = HWY_DYNAMIC_DISPATCH(GemmlowpBack);
  parallel_ranges(static_cast<std::int64_t>(codes.size()), worth_a_thread, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    row(range, codes.data() + begin, values.data() + begin, end - begin);
                  });
}

std::uint64_t gemmlowp_round_values(std::span<const float> values, const GemmlowpRange& range,
                                    Rounding rounding, const DrawSource& draws, std::span<float> rounded,
                                    int threads) {
  check_lengths(values.size(), rounded.size());
  if (!vectorised(rounding)) {
    std::vector<std::uint16_t> codes(values.size());
    const std::uint64_t invalid = mantissa::gemmlowp_quantize(values, range, rounding, draws, codes);
    gemmlowp_dequantize(codes, range, rounded, threads);
    return invalid;
  }
  const auto row = HWY_DYNAMIC_DISPATCH(GemmlowpValues);
  return for_elements(static_cast<std::int64_t>(values.size()), rounding, draws, threads,
                      [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
                        return row(range, rounding, values.data() + first, draw, rounded.data() + first,
                                   count);
                      });
}

}  // namespace mantissa::kernels
#endif
