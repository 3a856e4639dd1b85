// The RTL as text: lint clean in every configuration, accepted by Yosys, its gates as right as its sources,
// its ports documented.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "testbench/cli/run_program.hpp"
#include "testbench/verify/unit_list.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

const std::string rtl = MANTISSA_SOURCE_DIR "/rtl";

Finished lint(const std::string& module, const std::string& parameters) {
  return run_shell("verilator --lint-only -Wall -y " + rtl + " --top-module " + module + " " + parameters +
                   " " + rtl + "/mantissa_pkg.sv " + rtl + "/" + module + ".sv");
}

class Rtl : public testing::TestWithParam<std::string> {};

TEST_P(Rtl, IsLintCleanInEveryConfiguration) {
  const Json& unit = unit_record(GetParam());
  for (const Json& configuration : unit["configurations"]) {
    std::string parameters;
    for (const auto& [name, value] : configuration["parameters"].items())
      parameters += " -G" + name + "=" + value.dump();
    const Finished run = lint(unit["module"], parameters);
    EXPECT_EQ(run.exit_code, 0) << configuration["name"] << run.err;
    EXPECT_EQ(run.err, "") << configuration["name"];
  }
}

struct BadParameter {
  const char* module;
  const char* setting;
};
void PrintTo(const BadParameter& bad, std::ostream* out) { *out << bad.module << " " << bad.setting; }

class RtlParameter : public testing::TestWithParam<BadParameter> {};

TEST_P(RtlParameter, IsRefused) {
  const Finished run = lint(GetParam().module, GetParam().setting);
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("-USERERROR"), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(Bad, RtlParameter,
                         testing::Values(BadParameter{"lfsr", "-GLeap=33"}, BadParameter{"lfsr", "-GLeap=0"},
                                         BadParameter{"quantizer", "-GRndBits=8"},
                                         BadParameter{"drain_lane", "-GRound=2 -GRndBits=17"},
                                         BadParameter{"gemmlowp_quantizer", "-GRound=1"},
                                         BadParameter{"weight_update", "-GRound=1"}));

// Yosys reads some SystemVerilog otherwise than Verilator does: what comes out of it must pass the same
// bench. Nets are split into bits, for in vectors that run through themselves bit by bit Verilator sees
// loops.
void check_gates(const std::string& unit_name) {
  const Json& unit = unit_record(unit_name);
  const std::string module = unit["module"];
  const Json& configuration = unit["configurations"][0];
  std::string parameters;
  for (const auto& [name, value] : configuration["parameters"].items()) {
    parameters += " -chparam " + name + " " + value.dump();
  }
  const Finished run =
      run_in_scratch("yosys -q -l log -p \"read_verilog -sv " + rtl + "/mantissa_pkg.sv $(ls " + rtl +
                     "/*.sv | grep -v mantissa_pkg | tr '\\n' ' ');"
                     " hierarchy -top " +
                     module + parameters + "; rename -top " + module + "; synth -flatten -top " + module +
                     "; splitnets; write_verilog -noattr gates.v\" && "
                     "! grep -i 'latch inferred' log | grep -v '^No' && "
                     "mantissa verify " +
                     unit_name + " --config '" + configuration["name"].get<std::string>() +
                     "' --vectors 20000 --dut gates.v --top " + module);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

class Gates : public testing::TestWithParam<std::string> {};
TEST_P(Gates, PassTheBench) { check_gates(GetParam()); }

// One unit of each kind; all of them are a long test.
INSTANTIATE_TEST_SUITE_P(Some, Gates,
                         testing::Values("lfsr", "fp8_mul", "fp8_mac", "quantizer", "rle_encoder"),
                         [](const auto& test) { return test_name(test.param); });

class LongGates : public testing::TestWithParam<std::string> {};
TEST_P(LongGates, PassTheBench) { check_gates(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Long, LongGates, testing::ValuesIn(unit_names()),
                         [](const auto& test) { return test_name(test.param); });

INSTANTIATE_TEST_SUITE_P(Units, Rtl, testing::ValuesIn(unit_names()),
                         [](const auto& test) { return test_name(test.param); });

TEST(RtlReadme, HasTheTableThatVerifyPrints) {
  std::ifstream file(rtl + "/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const std::string list = run_mantissa({"verify", "--list"}).out;
  ASSERT_FALSE(list.empty());
  EXPECT_NE(readme.find(list), std::string::npos)
      << "replace the port tables of rtl/README.md by: mantissa verify --list";
}

TEST(ForeignBench, DpiBenchRunsUnderVerilator) {
  const Finished run = run_shell("CXXFLAGS='" MANTISSA_SANITIZERS "' " MANTISSA_SOURCE_DIR
                                 "/testbench/dpi/run " MANTISSA_LIBRARY_DIR " 20000");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("20000 transactions"), std::string::npos) << run.out;
}

TEST(ForeignBench, VectorBenchRunsUnderIcarus) {
  const Finished run = run_shell(MANTISSA_SOURCE_DIR "/testbench/icarus/run $(command -v mantissa) 5000");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

}  // namespace
}  // namespace mantissa::test
