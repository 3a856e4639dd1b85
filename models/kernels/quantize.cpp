#include "models/kernels/quantize.hpp"

#include <array>

#include "models/kernels/rounded_ranges.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

void Dequantize8(const float* table, const std::uint8_t* code, float* out, std::size_t count) {
  DecodeRow(table, code, out, count);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(Dequantize8);

}  // namespace

template <class Code>
void quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
              std::span<Code> codes, int threads, ConversionCounts* counts) {
  round_tensor<Code>(values, how, draws, codes, threads, counts);
}

template void quantize(std::span<const float>, const Conversion&, const DrawSource&, std::span<std::uint8_t>,
                       int, ConversionCounts*);
template void quantize(std::span<const float>, const Conversion&, const DrawSource&, std::span<std::uint16_t>,
                       int, ConversionCounts*);

void dequantize(std::span<const std::uint8_t> codes, const Conversion& how, std::span<float> values,
                int threads) {
  check_quantizer(how, 8, values.size(), codes.size());
  // All answers the scalar model can give, looked up.
  std::array<std::uint8_t, 256> all;
  for (std::size_t code = 0; code < all.size(); ++code)
    all[code] = static_cast<std::uint8_t>(code & how.to.code_mask());
  std::array<float, 256> table;
  mantissa::dequantize<std::uint8_t>(all, how, table);
  parallel_ranges(static_cast<std::int64_t>(codes.size()), worth_a_thread, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    HWY_DYNAMIC_DISPATCH(Dequantize8)
                    (table.data(), codes.data() + begin, values.data() + begin, end - begin);
                  });
}

}  // namespace mantissa::kernels
#endif
