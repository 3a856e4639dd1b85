#include "models/kernels/quantize.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "models/kernels/conversion_grid.hpp"
#include "models/kernels/draw_blocks.hpp"
#include "models/parallel/parallel.hpp"
#include "models/quantize/rounding_draws.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "models/kernels/quantize.cpp"
#include <hwy/foreach_target.h>
// After foreach_target, as Highway wants it.
#include <hwy/highway.h>

#include "models/kernels/decode-inl.hpp"
#include "models/kernels/quantize_lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mantissa::kernels::HWY_NAMESPACE {

void QuantizeTo8(const ConversionGrid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                 std::uint8_t* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(CodeSink(g, out), g, rounding, in, draw, count, counts);
}
void QuantizeTo16(const ConversionGrid& g, Rounding rounding, const float* in, const std::uint32_t* draw,
                  std::uint16_t* out, std::size_t count, ConversionCounts* counts) {
  RoundInto(CodeSink(g, out), g, rounding, in, draw, count, counts);
}
void Dequantize8(const float* table, const std::uint8_t* code, float* out, std::size_t count) {
  DecodeRow(table, code, out, count);
}

}  // namespace mantissa::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mantissa::kernels {
namespace {
HWY_EXPORT(QuantizeTo8);
HWY_EXPORT(QuantizeTo16);
HWY_EXPORT(Dequantize8);

template <class Code>
void quantize_range(std::span<const float> values, const ConversionGrid& grid, const Conversion& how,
                    const DrawSource& draws, std::span<Code> codes, std::int64_t begin, std::int64_t end,
                    ConversionCounts* counts) {
  const auto run = [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
    if constexpr (sizeof(Code) == 1) {
      HWY_DYNAMIC_DISPATCH(QuantizeTo8)
      (grid, how.rounding, values.data() + first, draw, codes.data() + first, count, counts);
    } else {
      HWY_DYNAMIC_DISPATCH(QuantizeTo16)
      (grid, how.rounding, values.data() + first, draw, codes.data() + first, count, counts);
    }
  };
  if (!how.rounding.stochastic()) return run(nullptr, begin, end - begin);
  for_draw_blocks(draws, begin, end, run);
}

}  // namespace

template <class Code>
void quantize(std::span<const float> values, const Conversion& how, const DrawSource& draws,
              std::span<Code> codes, int threads, ConversionCounts* counts) {
  check_quantizer(how, 8 * sizeof(Code), values.size(), codes.size());
  if (!has_vector_form(how, counts != nullptr)) {
    const ConversionCounts met = mantissa::quantize(values, how, draws, codes);
    if (counts != nullptr) *counts += met;
    return;
  }
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses
  const ConversionGrid grid = grid_of(how);
  const std::int64_t grain = draw_block(draws);
  std::mutex merge;
  parallel_ranges(
      static_cast<std::int64_t>(values.size()), grain, threads, [&](std::int64_t begin, std::int64_t end) {
        ConversionCounts met;
        met.elements = end - begin;
        quantize_range(values, grid, how, draws, codes, begin, end, counts != nullptr ? &met : nullptr);
        if (counts != nullptr) {
          const std::lock_guard lock(merge);
          *counts += met;
        }
      });
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
