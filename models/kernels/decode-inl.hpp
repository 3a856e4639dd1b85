// Decoding codes to values inside a kernel, once per SIMD target. (Include guard as Highway wants it.)
#if defined(MANTISSA_KERNELS_DECODE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef MANTISSA_KERNELS_DECODE_INL
#undef MANTISSA_KERNELS_DECODE_INL
#else
#define MANTISSA_KERNELS_DECODE_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// out[i] = table[code[i]] for i < count.
HWY_INLINE void DecodeRow(const float* HWY_RESTRICT table, const std::uint8_t* HWY_RESTRICT code,
                          float* HWY_RESTRICT out, std::size_t count) {
  const hn::ScalableTag<float> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::Rebind<std::uint8_t, decltype(df)> du8;
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto index = hn::PromoteTo(di, hn::LoadU(du8, code + i));
    hn::StoreU(hn::GatherIndex(df, table, index), df, out + i);
  }
  for (; i < count; ++i) out[i] = table[code[i]];
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
