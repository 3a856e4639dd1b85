// An enumerator that does not exist is refused by the scalar models and by every kernel, and never taken for
// one that does.
#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/kernels/drain.hpp"
#include "models/kernels/gemm.hpp"
#include "models/kernels/gemmlowp.hpp"
#include "models/kernels/quantize.hpp"
#include "models/kernels/weight_update.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/quantize/quantizer.hpp"
#include "models/update/weight_update.hpp"
#include "testbench/models/kernels/all_targets.hpp"

namespace mantissa {
namespace {

constexpr Rounding unknown{static_cast<Rounding::Mode>(99), 0};
constexpr auto unknown_kind = static_cast<Accumulator::Kind>(99);
// Not on any grid, so every rounding has something to decide.
const std::vector<float> values(37, 1.3F);

struct Call {
  const char* name;
  std::function<void()> run;
};

void expect_all_refused(const std::vector<Call>& calls) {
  for (const Call& call : calls) EXPECT_THROW(call.run(), std::logic_error) << call.name;
}

void run_gemm(const Accumulator& how, bool kernel) {
  const std::vector<std::uint8_t> codes(16, 0x3D);
  const GemmOperands operands{.m = 4, .n = 4, .k = 4, .a = codes, .b = codes};
  GemmOptions options;
  options.accumulator = how;
  std::vector<float> c(16);
  if (kernel) {
    kernels::gemm(operands, options, c, 1);
  } else {
    gemm(operands, options, c);
  }
}

// Every kind of accumulator with a rounding that does not exist, and a kind that does not exist.
std::vector<Call> gemm_calls(bool kernel) {
  std::vector<Call> calls;
  for (const char* kind : {"plain", "chunk:2", "fused:2", "aligned:2,8", "kulisch"}) {
    for (const Format& format : {formats::fp32, formats::fp16, formats::e4m3}) {
      Accumulator how = Accumulator::parse(kind, format, Rounding::rne());
      how.rounding = unknown;
      calls.push_back({kind, [how, kernel] { run_gemm(how, kernel); }});
    }
  }
  Accumulator inner = Accumulator::parse("chunk:2", formats::fp16, Rounding::rne());
  inner.inner_rounding = unknown;
  calls.push_back({"chunk:2, inner", [inner, kernel] { run_gemm(inner, kernel); }});
  for (const Format& format : {formats::fp32, formats::fp16, formats::e4m3}) {
    const Accumulator how{.kind = unknown_kind, .format = format};
    calls.push_back({"kind", [how, kernel] { run_gemm(how, kernel); }});
  }
  return calls;
}

TEST(UnknownRounding, HasNoName) {
  EXPECT_THROW(unknown.name(), std::logic_error);
  EXPECT_THROW(Accumulator{.kind = unknown_kind}.kind_name(), std::logic_error);
  EXPECT_THROW(Accumulator{.kind = unknown_kind}.roundings(8), std::logic_error);
}

TEST(UnknownRounding, ScalarModelsRefuseIt) {
  const std::uint32_t x = fp32_bits(1.3F);
  const Conversion how{.to = formats::e5m2, .rounding = unknown};
  const GemmlowpRange range = GemmlowpRange::between(0, 10, 8);
  expect_all_refused({
      {"round", [] { round(Exact::integer(false, 0x1FFF, 0), formats::e5m2, unknown, 0, Overflow::ieee); }},
      {"overflow", [] { round(Exact::integer(false, 1, 99), formats::e5m2, unknown, 0, Overflow::ieee); }},
      {"convert", [&] { convert(x, how); }},
      {"add",
       [&] {
         add({x, formats::fp32}, {x, formats::fp32}, {formats::e5m2, unknown});
       }},
      {"fp8_mac", [] { fp8_mac(0x3D, 0x3D, 0x3D33, {.acc = formats::fp16, .rounding = unknown}); }},
      {"quantize",
       [&] {
         std::vector<std::uint8_t> codes(37);
         quantize<std::uint8_t>(values, how, {}, codes);
       }},
      {"gemmlowp",
       [&] {
         std::vector<std::uint16_t> q(37);
         gemmlowp_quantize(values, range, unknown, {}, q);
       }},
      {"update",
       [&] {
         std::vector<std::uint16_t> weights(37);
         std::vector<float> momentum(37);
         update_weights(weights, momentum, values, {.learning_rate = 0.1F, .rounding = unknown}, {});
       }},
  });
  expect_all_refused(gemm_calls(false));
}

TEST(UnknownRounding, KernelsRefuseItOnEveryTarget) {
  const GemmlowpRange range = GemmlowpRange::between(0, 10, 8);
  test::on_every_target([&](const std::string&) {
    for (const Format& to : {formats::e5m2, formats::e4m3, formats::fp16}) {
      const Conversion how{.to = to, .rounding = unknown};
      for (const bool counting : {false, true}) {
        ConversionCounts counts;
        ConversionCounts* met = counting ? &counts : nullptr;
        std::vector<std::uint16_t> codes(37);
        std::vector<float> rounded(37);
        expect_all_refused({
            {"quantize", [&] { kernels::quantize<std::uint16_t>(values, how, {}, codes, 1, met); }},
            {"round_values", [&] { kernels::round_values(values, how, {}, rounded, 1, met); }},
            {"drain_values",
             [&] {
               const NormShape shape{.batch = 37, .channels = 1, .spatial = 1};
               kernels::drain<float>(values, shape, how, {}, {}, rounded, 1, met);
             }},
        });
      }
    }
    std::vector<std::uint16_t> codes(37);
    std::vector<float> momentum(37);
    std::vector<float> rounded(37);
    expect_all_refused({
        {"gemmlowp codes", [&] { kernels::gemmlowp_quantize(values, range, unknown, {}, codes, 1); }},
        {"gemmlowp values", [&] { kernels::gemmlowp_round_values(values, range, unknown, {}, rounded, 1); }},
        {"update",
         [&] {
           kernels::update_weights(codes, momentum, values, {.learning_rate = 0.1F, .rounding = unknown}, {},
                                   1);
         }},
    });
    expect_all_refused(gemm_calls(true));
  });
}

}  // namespace
}  // namespace mantissa
