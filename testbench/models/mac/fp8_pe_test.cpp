// Steps of fp8_pe, one after the other, are the golden GEMM of one output.
#include "models/mac/fp8_pe.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/gemm.hpp"

namespace mantissa {
namespace {

TEST(Fp8Pe, StepsAreAGemm) {
  std::mt19937 engine(1);
  int zeros_below_the_accumulator = 0;
  for (const Format& acc : {formats::fp32, formats::fp16, formats::bf16}) {
    const MacConfig config{.acc = acc};
    for (int run = 0; run < 2000; ++run) {
      const int k = 1 + run % 7;
      std::vector<std::uint8_t> a(k);
      std::vector<std::uint8_t> b(k);
      std::uint32_t sum = 0;
      for (int i = 0; i < k; ++i) {
        a[i] = static_cast<std::uint8_t>(engine());
        b[i] = static_cast<std::uint8_t>(engine());
        const std::uint32_t mac = fp8_mac(a[i], b[i], sum, config).code;
        if (acc.is_zero(mac) && acc.is_negative(mac)) ++zeros_below_the_accumulator;
        sum = fp8_pe(a[i], b[i], sum, config);
      }
      GemmOptions options;
      options.accumulator = Accumulator::parse("plain", acc, Rounding::rne());
      float c = 0;
      gemm({.m = 1, .n = 1, .k = k, .a = a, .b = b}, options, {&c, 1});
      ASSERT_EQ(convert(sum, {.from = acc, .to = formats::fp32}).code, fp32_bits(c)) << acc.name();
    }
  }
  EXPECT_GT(zeros_below_the_accumulator, 0);
}

}  // namespace
}  // namespace mantissa
