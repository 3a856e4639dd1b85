// The golden GEMM, and the kernels on every SIMD target, against an independent reference program, in every
// accumulator option.
#include "models/mac/gemm.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "models/format/convert.hpp"
#include "models/kernels/gemm.hpp"
#include "testbench/models/kernels/all_targets.hpp"
#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

using test::arith_cases;
using test::hex32;

std::vector<std::uint8_t> flatten(const nlohmann::json& rows) {
  std::vector<std::uint8_t> codes;
  for (const auto& row : rows) {
    for (const auto& code : row) codes.push_back(static_cast<std::uint8_t>(hex32(code)));
  }
  return codes;
}

Accumulator accumulator_of(const nlohmann::json& one) {
  std::string kind = one["option"];
  if (!one["G"].is_null()) kind += ":" + std::to_string(one["G"].get<int>());
  if (!one["bits"].is_null()) kind += "," + std::to_string(one["bits"].get<int>());
  return Accumulator::parse(kind, Format::parse(one["acc"].get<std::string>()),
                            Rounding::parse(one["round"].get<std::string>()));
}

TEST(Gemm, EqualsReferenceProgram) {
  ASSERT_EQ(arith_cases("gemm").size(), 168U);
  for (const auto& one : arith_cases("gemm")) {
    const std::vector<std::uint8_t> a = flatten(one["A"]);
    const std::vector<std::uint8_t> b = flatten(one["B"]);
    GemmOperands operands;
    operands.m = static_cast<std::int64_t>(one["A"].size());
    operands.k = static_cast<std::int64_t>(one["B"].size());
    operands.n = static_cast<std::int64_t>(one["B"][0].size());
    operands.a = a;
    operands.b = b;
    operands.a_format = Format::parse(one["a"].get<std::string>());
    operands.b_format = Format::parse(one["b"].get<std::string>());
    GemmOptions options;
    options.accumulator = accumulator_of(one);
    options.rows = one["rows"];
    options.draws = {.run_seed = one["run_seed"],
                     .stream = test::hex64(one["stream"]),
                     .lanes = one["cols"],
                     .leap = one["leap"]};
    const auto expect_reference = [&](std::span<const float> c, const std::string& who) {
      std::size_t i = 0;
      for (const auto& row : one["C"]) {
        for (const auto& expected : row) {
          const std::uint32_t code =
              convert(fp32_bits(c[i++]), {.from = formats::fp32, .to = options.accumulator.format}).code;
          ASSERT_EQ(code, hex32(expected))
              << who << ", " << options.accumulator.name() << ", output " << i - 1;
        }
      }
    };
    std::vector<float> c(operands.m * operands.n);
    gemm(operands, options, c);
    expect_reference(c, "scalar model");
    test::on_every_target([&](const std::string& target) {
      kernels::gemm(operands, options, c);
      expect_reference(c, target);
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mantissa
