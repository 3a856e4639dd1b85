// The C API from C and C++: known answers, the machine's arithmetic, the reference program's cases, errors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "models/capi/mantissa.h"
#include "testbench/support/arith_cases.hpp"
#include "testbench/support/float_oracle.hpp"

extern "C" int check_from_c(void);

namespace mantissa {
namespace {

using test::arith_cases;
using test::hex32;

unsigned int flag_bits(const nlohmann::json& names) {
  unsigned int bits = 0;
  for (const auto& name : names) {
    bits |= name == "invalid"     ? 16U
            : name == "overflow"  ? 4U
            : name == "underflow" ? 2U
            : name == "inexact"   ? 1U
                                  : 1024U;
  }
  return bits;
}

struct Fp8 {
  int e5m2 = mantissa_format("e5m2");
  int e4m3 = mantissa_format("e4m3");
  int fp32 = mantissa_format("fp32");
  int rne = mantissa_rounding("rne");
};

TEST(CApi, WorksFromC) { EXPECT_EQ(check_from_c(), 0); }

TEST(CApi, VersionIsTheProjects) { EXPECT_STREQ(mantissa_version(), "0.2.0"); }

TEST(CApi, FormatHandlesKeepTheFormat) {
  std::set<int> handles;
  const std::vector<std::pair<const char*, int>> widths{
      {"e5m2", 8},           {"e4m3", 8},          {"e4m3:ieee", 8}, {"e4m3:fnuz", 8}, {"e4m3:bias=11", 8},
      {"e4m3:bias=-256", 8}, {"e4m3:bias=512", 8}, {"e2m1", 4},      {"e2m0", 3},      {"e8m23:finite", 32},
      {"fp16", 16},          {"bf16", 16},         {"fp32", 32}};
  for (const auto& [name, bits] : widths) {
    const int handle = mantissa_format(name);
    EXPECT_GT(handle, 0) << name;
    EXPECT_EQ(mantissa_format_bits(handle), bits) << name;
    EXPECT_TRUE(handles.insert(handle).second) << name;
  }
  EXPECT_EQ(mantissa_format("e5m2"), mantissa_format("e5m2:ieee"));  // the same format
}

TEST(CApi, EightBitCodesDecodeByTheFormulaAndEncodeBack) {
  const Fp8 f;
  for (unsigned int code = 0; code < 256; ++code) {
    for (const bool e5m2 : {true, false}) {
      const int format = e5m2 ? f.e5m2 : f.e4m3;
      const double expected = e5m2 ? test::e5m2_value(code) : test::e4m3_value(code);
      double value = 0;
      ASSERT_EQ(mantissa_decode(format, code, &value), 0);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(value));
        continue;
      }
      EXPECT_EQ(value, expected);
      EXPECT_EQ(std::signbit(value), std::signbit(expected));
      unsigned int back = 0;
      unsigned int flags = 99;
      ASSERT_EQ(mantissa_encode(format, f.rne, MANTISSA_IEEE, value, 0, &back, &flags), 0);
      EXPECT_EQ(back, code);
      EXPECT_EQ(flags, 0U);
    }
  }
}

TEST(CApi, ConvertEqualsReferenceProgram) {
  const int fp32 = mantissa_format("fp32");
  for (const auto& one : arith_cases("convert")) {
    unsigned int code = 0;
    unsigned int flags = 0;
    ASSERT_EQ(mantissa_convert(fp32, mantissa_format(one["format"].get<std::string>().c_str()),
                               mantissa_rounding(one["round"].get<std::string>().c_str()),
                               one["overflow"] == "saturate" ? MANTISSA_SATURATE : MANTISSA_IEEE,
                               one["scale"], hex32(one["x"]), hex32(one["R"]), &code, &flags),
              0)
        << mantissa_last_error();
    EXPECT_EQ(code, hex32(one["code"])) << one;
    EXPECT_EQ(flags, flag_bits(one["flags"])) << one;
  }
}

TEST(CApi, TiesGoAsTheModeSays) {
  const Fp8 f;
  const struct {
    const char* rounding;
    unsigned int of_1_125, of_1_375;
  } cases[] = {{"rne", 0x3C, 0x3E}, {"rna", 0x3D, 0x3E}, {"rnz", 0x3C, 0x3D}};
  for (const auto& one : cases) {
    const int rounding = mantissa_rounding(one.rounding);
    ASSERT_GE(rounding, 0) << mantissa_last_error();
    unsigned int code = 0;
    ASSERT_EQ(mantissa_encode(f.e5m2, rounding, MANTISSA_IEEE, 1.125, 0, &code, nullptr), 0);
    EXPECT_EQ(code, one.of_1_125) << one.rounding;
    ASSERT_EQ(mantissa_encode(f.e5m2, rounding, MANTISSA_IEEE, -1.375, 0, &code, nullptr), 0);
    EXPECT_EQ(code, one.of_1_375 | 0x80U) << one.rounding;
  }
}

TEST(CApi, MacEqualsTheMachinesFma) {
  const Fp8 f;
  for (unsigned int a = 0; a < 256; a += 3) {
    for (unsigned int b = 0; b < 256; b += 5) {
      const unsigned int acc = a * 0x01C3F1A7U ^ b * 0x4A7C15F3U;
      const auto expected = test::machine_fma(test::e5m2_value(a), test::e4m3_value(b), test::float_of(acc));
      unsigned int result = 0;
      ASSERT_EQ(mantissa_mac(f.e5m2, f.e4m3, f.fp32, f.rne, a, b, acc, 0, &result, nullptr), 0);
      ASSERT_EQ(result, expected.bits) << a << " " << b << " " << acc;
    }
  }
}

TEST(CApi, OperationsEqualTheMachines) {
  const Fp8 f;
  unsigned int a = 1;
  unsigned int b = 0x9E3779B9;
  for (int i = 0; i < 20000; ++i) {
    a = a * 1664525 + 1013904223;
    b = b * 22695477 + 1;
    const float x = test::float_of(a);
    const float y = test::float_of(b);
    if (std::isnan(x) || std::isnan(y)) continue;
    unsigned int result = 0;
    unsigned int flags = 0;
    const auto sum = test::machine_add(x, y);
    ASSERT_EQ(mantissa_add(f.fp32, f.fp32, f.fp32, f.rne, MANTISSA_IEEE, a, b, 0, &result, &flags), 0);
    ASSERT_EQ(result, sum.bits);
    ASSERT_EQ(flags, sum.flags);
    const auto product = test::machine_mul(x, y);
    ASSERT_EQ(mantissa_mul(f.fp32, f.fp32, f.fp32, f.rne, MANTISSA_IEEE, a, b, 0, &result, &flags), 0);
    ASSERT_EQ(result, product.bits);
    ASSERT_EQ(flags, product.flags);
    const auto quotient = test::machine_div(x, y);
    ASSERT_EQ(mantissa_div(f.fp32, f.fp32, f.fp32, f.rne, MANTISSA_IEEE, a, b, 0, &result, &flags), 0);
    ASSERT_EQ(result, quotient.bits);
    ASSERT_EQ(flags, quotient.flags);
    const auto fused = test::machine_fma(x, y, x);
    ASSERT_EQ(mantissa_fma(f.fp32, f.fp32, f.fp32, f.fp32, f.rne, MANTISSA_IEEE, a, b, a, 0, &result, &flags),
              0);
    ASSERT_EQ(result, fused.bits);
  }
}

TEST(CApi, RandomNumbersHaveTheKnownAnswers) {
  unsigned int seed = 0;
  ASSERT_EQ(mantissa_lane_seed(0, 0, 0, &seed), 0);
  EXPECT_EQ(seed, 0x38FCBE91U);
  ASSERT_EQ(mantissa_lane_seed(0, 0, 1, &seed), 0);
  EXPECT_EQ(seed, 0x96C67C60U);
  unsigned int other = 0;
  ASSERT_EQ(mantissa_lane_seed(0, 1LL << 32, 1, &other), 0);
  EXPECT_NE(other, seed);
  ASSERT_EQ(mantissa_lane_seed(1, 0, 0, &seed), 0);
  const unsigned int expected[] = {0xE6CC, 0x673A, 0x6365};
  unsigned int state = seed;
  for (int n = 0; n < 3; ++n) {
    unsigned int drawn = 0;
    ASSERT_EQ(mantissa_lfsr_draw(seed, 16, n, &drawn), 0);
    EXPECT_EQ(drawn & 0xFFFF, expected[n]);
    ASSERT_EQ(mantissa_lfsr_next(state, 16, &state), 0);
    EXPECT_EQ(state, drawn);
  }
}

TEST(CApi, QuantizeTakesTheDrawsOfItsLanes) {
  const Fp8 f;
  const int sr = mantissa_rounding("sr:8");
  constexpr int lanes = 3;
  constexpr long long run_seed = 7;
  constexpr long long stream = 0x100020101;
  std::vector<float> values(100);
  for (int i = 0; i < 100; ++i) {
    values[i] = std::ldexp(1.0F + static_cast<float>(i) / 128.0F, i % 40 - 20);
  }
  values[50] = 1e30F;
  std::vector<unsigned int> codes(values.size());
  unsigned int flags = 0;
  ASSERT_EQ(mantissa_quantize(f.e5m2, sr, MANTISSA_SATURATE, 1, values.data(), codes.data(),
                              static_cast<long long>(values.size()), &flags, run_seed, stream, lanes, 16),
            0)
      << mantissa_last_error();
  unsigned int all_flags = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    unsigned int seed = 0;
    unsigned int draw = 0;
    unsigned int code = 0;
    unsigned int own_flags = 0;
    ASSERT_EQ(mantissa_lane_seed(run_seed, stream, static_cast<long long>(i % lanes), &seed), 0);
    ASSERT_EQ(mantissa_lfsr_draw(seed, 16, static_cast<long long>(i / lanes), &draw), 0);
    ASSERT_EQ(mantissa_convert(f.fp32, f.e5m2, sr, MANTISSA_SATURATE, 1, test::bits_of(values[i]),
                               draw & 0xFF, &code, &own_flags),
              0);
    ASSERT_EQ(codes[i], code) << i;
    all_flags |= own_flags;
  }
  EXPECT_EQ(flags, all_flags);
  EXPECT_EQ(codes[50], 0x7BU);  // saturated
}

TEST(CApi, PruneEqualsReferenceProgram) {
  const std::vector<std::string> outcomes{"zeros in", "kept", "snapped", "zeros made"};
  for (const auto& one : arith_cases("prune")) {
    unsigned int code = 0;
    int outcome = -1;
    ASSERT_EQ(mantissa_prune(mantissa_format(one["format"].get<std::string>().c_str()), one["r"],
                             hex32(one["g"]), hex32(one["tau"]), hex32(one["R"]), &code, &outcome),
              0)
        << mantissa_last_error();
    EXPECT_EQ(code, hex32(one["code"])) << one;
    ASSERT_TRUE(outcome >= 0 && outcome < 4);
    EXPECT_EQ(outcomes[outcome], one["counter"].get<std::string>()) << one;
  }
}

TEST(CApi, ErrorsAreExplainedAndChangeNothing) {
  const Fp8 f;
  unsigned int result = 0xDEAD;
  unsigned int flags = 0xBEEF;
  double value = 42;
  const auto refused = [&](int status, const std::string& word) {
    EXPECT_EQ(status, -1);
    EXPECT_NE(std::string(mantissa_last_error()).find(word), std::string::npos) << mantissa_last_error();
    EXPECT_EQ(result, 0xDEADU);
    EXPECT_EQ(flags, 0xBEEFU);
    EXPECT_EQ(value, 42);
  };
  refused(mantissa_format("e9m9"), "e5m2");
  refused(mantissa_format(nullptr), "the name is NULL");
  refused(mantissa_rounding(nullptr), "the name is NULL");
  refused(mantissa_rounding("up"), "rtz");
  refused(mantissa_format_bits(0), "handle");
  refused(mantissa_format_bits(-5), "handle");
  refused(mantissa_format_bits(f.e5m2 ^ 15), "handle");
  refused(mantissa_decode(f.e5m2, 256, &value), "out of range");
  refused(mantissa_decode(f.e5m2, 1, nullptr), "NULL");
  refused(mantissa_encode(f.e5m2, 77, MANTISSA_IEEE, 1.0, 0, &result, &flags), "rounding handle");
  refused(mantissa_encode(f.e5m2, f.rne, 2, 1.0, 0, &result, &flags), "MANTISSA_SATURATE");
  refused(mantissa_encode(f.e5m2, mantissa_rounding("sr:8"), MANTISSA_IEEE, 1.0, 256, &result, &flags),
          "sr:8");
  refused(mantissa_encode(f.e5m2, f.rne, MANTISSA_IEEE, 1.0, 0, nullptr, &flags), "NULL");
  refused(mantissa_convert(f.fp32, f.e5m2, f.rne, MANTISSA_IEEE, 128, 0, 0, &result, &flags), "-128..127");
  refused(mantissa_mac(f.fp32, f.e5m2, f.fp32, f.rne, 0, 0, 0, 0, &result, &flags), "at most 8");
  refused(mantissa_mac(f.e5m2, f.e5m2, f.fp32, f.rne, 0, 256, 0, 0, &result, &flags), "out of range");
  refused(mantissa_lfsr_next(0, 16, &result), "seed 0");
  refused(mantissa_lfsr_next(1, 33, &result), "1..32");
  refused(mantissa_lfsr_draw(1, 16, -1, &result), "from 0");
  refused(mantissa_prune(f.fp32, 16, 0, 0x7F800000, 0, &result, nullptr), "threshold");
  refused(mantissa_prune(f.fp32, 16, 0, 0x3F800000, 0x10000, &result, nullptr), "out of range");
  refused(mantissa_prune(f.fp32, 0, 0, 0x3F800000, 0, &result, nullptr), "random bits");
  refused(mantissa_quantize(f.e5m2, mantissa_rounding("sr:20"), MANTISSA_IEEE, 0, nullptr, nullptr, 0, &flags,
                            0, 0, 16, 16),
          "leap");
  refused(mantissa_quantize(f.e5m2, f.rne, MANTISSA_IEEE, 0, nullptr, &result, 1, &flags, 0, 0, 16, 16),
          "NULL");
}

TEST(CApi, LibraryShowsNothingElse) {
  std::FILE* symbols = popen("nm -D --defined-only " MANTISSA_LIBRARY, "r");
  ASSERT_NE(symbols, nullptr);
  char address[64];
  char type[64];
  char name[512];
  int count = 0;
  while (std::fscanf(symbols, "%63s %63s %511s", address, type, name) == 3) {
    EXPECT_EQ(std::string(name).substr(0, 9), "mantissa_") << name;
    ++count;
  }
  EXPECT_EQ(pclose(symbols), 0);
  EXPECT_GE(count, 18);
}

}  // namespace
}  // namespace mantissa
