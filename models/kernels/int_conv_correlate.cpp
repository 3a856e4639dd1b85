#include <algorithm>
#include <type_traits>
#include <vector>

#include "models/kernels/int_column_sums.hpp"
#include "models/kernels/int_conv_passes.hpp"
#include "models/kernels/int_output.hpp"
#include "models/parallel/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/int_conv_correlate.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/conv_correlate-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

// T holds every sum exactly: float or double.
template <class T>
struct IntEnding {
  using Sum = T;
  const IntOutput* output;
  const float* row_sums;  // fp32(SA), by lane
  const double* holes;    // by channel of the block
  const float* column;

  template <class D>
  HWY_INLINE auto Output(D d, std::size_t channel, std::size_t lane, hn::VFromD<D> sum) const {
    const hn::Rebind<float, D> df;
    const auto s = Rounded(df, hn::Add(sum, hn::Set(d, static_cast<T>(holes[channel]))));
    const auto row = Fused(df, hn::Set(df, output->a_scale_b_min), hn::LoadU(df, row_sums + lane),
                           hn::Set(df, column[channel]));
    return WithCanonicalNan(df, Fused(df, hn::Set(df, output->scales), s, row));
  }

 private:
  template <class DF, class V>
  static HWY_INLINE hn::VFromD<DF> Rounded(DF df, V sum) {
    if constexpr (std::is_same_v<T, float>) {
      return sum;
    } else {
      return hn::DemoteTo(df, sum);
    }
  }
};

template <class T>
class IntEndings {
 public:
  using Ending = IntEnding<T>;

  IntEndings(const ConvPlan& plan, const IntOutput& output, const ColumnSums& columns, std::uint16_t zero,
             std::size_t room)
      : plan_(plan),
        output_(output),
        columns_(columns),
        zero_(zero),
        stride_(plan.lanes + room),
        channel_sum_(plan.image.plane() + room),
        lane_sum_(stride_),
        row_sums_(plan.out_step[1] * stride_),
        holes_(plan.out_step[1]) {}

  // SA of every lane of a part, from the sum of the channels: all of them are read at the same places.
  void Prepare(std::size_t slot, std::size_t group, std::size_t part, const T* image) {
    if (part == 0) SumChannels(image);
    const std::vector<ConvTap>& taps = plan_.parts[part].taps;
    const std::size_t lanes = plan_.lanes_of(plan_.parts[part]);
    const std::size_t holes = plan_.group_taps() - taps.size();
    std::fill_n(lane_sum_.begin(), lanes, static_cast<T>(zero_ * holes));
    for (std::size_t t = 0; t < taps.size() / plan_.image.channels; ++t) {
      const T* HWY_RESTRICT from = channel_sum_.data() + taps[t].offset;
      T* HWY_RESTRICT to = lane_sum_.data();
      for (std::size_t lane = 0; lane < lanes; ++lane) to[lane] += from[lane];
    }
    for (std::size_t lane = 0; lane < lanes; ++lane)
      row_sums_[slot * stride_ + lane] = static_cast<float>(lane_sum_[lane]);
    group_ = group;
    holes_[slot] = columns_.holes.data() + (group * plan_.parts.size() + part) * plan_.out_channels;
  }

  Ending For(std::size_t slot, std::size_t channel) const {
    return {.output = &output_,
            .row_sums = row_sums_.data() + slot * stride_,
            .holes = holes_[slot] + channel,
            .column = columns_.column.data() + group_ * plan_.out_channels + channel};
  }

 private:
  void SumChannels(const T* HWY_RESTRICT image) {
    const std::size_t plane = plan_.image.plane();
    T* HWY_RESTRICT to = channel_sum_.data();
    std::fill_n(to, plane, T{0});
    for (std::int64_t c = 0; c < plan_.image.channels; ++c) {
      for (std::size_t i = 0; i < plane; ++i) to[i] += image[c * plane + i];
    }
  }

  const ConvPlan& plan_;
  const IntOutput& output_;
  const ColumnSums& columns_;
  std::uint16_t zero_;
  std::size_t stride_;
  std::size_t group_ = 0;
  std::vector<T> channel_sum_;
  std::vector<T> lane_sum_;
  std::vector<float> row_sums_;  // [slot][lane]
  std::vector<const double*> holes_;
};

template <class T>
void IntCorrelateIn(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, const IntTensor& source,
                    const IntTensor& w, const IntOutput& output, const ColumnSums& columns,
                    std::span<float> out, int threads) {
  const AlignedBuffer<T> weights =
      PackWeights<std::uint16_t, T>(plan, groups, w.values.q.data(), w.values.q.size() / groups);
  using IntCorrelator = Correlator<std::uint16_t, IntEndings<T>>;
  parallel_ranges(batch * groups, 1, threads, [&](std::int64_t begin, std::int64_t end) {
    IntCorrelator correlator(plan, {plan, output, columns, source.zero, IntCorrelator::Room()}, source.zero);
    CorrelateImages(correlator, plan, groups, source.values.q.data(), weights.data(), begin, end, out.data());
  });
}

void IntCorrelate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, const IntTensor& source,
                  const IntTensor& w, std::span<float> out, int threads) {
  const IntOutput output(static_cast<std::int64_t>(plan.group_taps()), source.values, w.values);
  const ColumnSums columns = column_sums(plan, groups, w.values.q, source.zero, output);
  // No sum is beyond the largest SB times the largest integer of the source, nor beyond what FP64 holds.
  const auto top = static_cast<double>((1 << source.values.bits) - 1);
  if (columns.largest * top < 0x1p24 && static_cast<double>(plan.group_taps()) * top < 0x1p24) {
    IntCorrelateIn<float>(plan, batch, groups, source, w, output, columns, out, threads);
  } else {
    IntCorrelateIn<double>(plan, batch, groups, source, w, output, columns, out, threads);
  }
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(IntCorrelate);

void int_correlate(const ConvPlan& plan, std::int64_t batch, std::int64_t groups, const IntTensor& source,
                   const IntTensor& w, std::span<float> out, int threads) {
  HWY_DYNAMIC_DISPATCH(IntCorrelate)(plan, batch, groups, source, w, out, threads);
}

}  // namespace mantissa::kernels
#endif
