#include "models/kernels/run_rounder.hpp"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/run_rounder.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/quantize_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

void RoundToCodes8(const ConversionGrid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                   std::uint8_t* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(CodeSink(g, out), g, rounding, in, draw, count, counts);
}
void RoundToCodes16(const ConversionGrid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                    std::uint16_t* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(CodeSink(g, out), g, rounding, in, draw, count, counts);
}
void RoundToValues(const ConversionGrid& g, const EndPatterns& ends, Rounding rounding, const float* in,
                   const std::uint32_t* draw, float* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(ValueSink(g, ends, out), g, rounding, in, draw, count, counts);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(RoundToCodes8);
HWY_EXPORT(RoundToCodes16);
HWY_EXPORT(RoundToValues);

template <class Out>
constexpr bool gives_values = std::is_same_v<Out, float>;

// Codes of more than 16 bits are rare and left to the scalar model.
template <class Out>
bool vectorised(const Conversion& how, bool counting) {
  if (gives_values<Out>) return has_vector_values(how, counting);
  return sizeof(Out) <= 2 && has_vector_form(how, counting);
}

}  // namespace

template <class Out>
RunRounder<Out>::RunRounder(const Conversion& how, bool counting)
    : how_(how), counting_(counting), vectorised_(vectorised<Out>(how, counting)) {
  if (!vectorised_) return;
  grid_ = grid_of(how);
  if (gives_values<Out>) ends_ = end_values(grid_, how);
}

template <class Out>
void RunRounder<Out>::operator()(const float* in, const std::uint32_t* draw, Out* out, std::int64_t count) {
  if (vectorised_) {
    counts_.elements += count;
    ConversionCounts* counts = counting_ ? &counts_ : nullptr;
    if constexpr (gives_values<Out>) {
      HWY_DYNAMIC_DISPATCH(RoundToValues)(grid_, ends_, how_.rounding, in, draw, out, count, counts);
    } else if constexpr (sizeof(Out) == 1) {
      HWY_DYNAMIC_DISPATCH(RoundToCodes8)(grid_, how_.rounding, in, draw, out, count, counts);
    } else if constexpr (sizeof(Out) == 2) {
      HWY_DYNAMIC_DISPATCH(RoundToCodes16)(grid_, how_.rounding, in, draw, out, count, counts);
    }
    return;
  }
  const Conversion back{.from = how_.to, .scale = -how_.scale};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t bits = fp32_bits(in[i]);
    const Rounded rounded = convert(bits, how_, draw != nullptr ? draw[i] : 0);
    mantissa::count(counts_, bits, rounded, how_);
    if constexpr (gives_values<Out>) {
      out[i] = fp32_value(convert(rounded.code, back).code);
    } else {
      out[i] = static_cast<Out>(rounded.code);
    }
  }
}

template class RunRounder<float>;
template class RunRounder<std::uint8_t>;
template class RunRounder<std::uint16_t>;
template class RunRounder<std::uint32_t>;

}  // namespace mantissa::kernels
#endif
