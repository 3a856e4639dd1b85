#include "models/kernels/mac_row.hpp"

#include "models/format/format.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/mac_row.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE void Step(D d, hn::Vec<D> a, const float* HWY_RESTRICT b, std::uint32_t* HWY_RESTRICT acc) {
  const hn::RebindToUnsigned<D> du;
  const auto before = hn::BitCast(d, hn::LoadU(du, acc));
  // The product is exact, so a target without FMA rounds once too. Adding +0 makes +0 of -0 and nothing else.
  const auto sum = hn::Add(hn::MulAdd(a, hn::LoadU(d, b), before), hn::Zero(d));
  const auto nan = hn::BitCast(d, hn::Set(du, formats::fp32.nan_code()));
  hn::StoreU(hn::BitCast(du, hn::IfThenElse(hn::IsNaN(sum), nan, sum)), du, acc);
}

void MacRow(float a, const float* HWY_RESTRICT b, std::uint32_t* HWY_RESTRICT acc, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) Step(d, hn::Set(d, a), b + i, acc + i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) Step(one, hn::Set(one, a), b + i, acc + i);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
HWY_EXPORT(MacRow);

void mac_row(float a, std::span<const float> b, std::span<std::uint32_t> acc) {
  HWY_DYNAMIC_DISPATCH(MacRow)(a, b.data(), acc.data(), acc.size());
}

}  // namespace mantissa::kernels
#endif
