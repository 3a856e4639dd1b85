// The RTL as text: lint clean in every configuration, accepted by Yosys, its gates as right as its sources,
// its ports documented.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "models/mac/fp8_mul.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
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

INSTANTIATE_TEST_SUITE_P(
    Bad, RtlParameter,
    testing::Values(
        BadParameter{"lfsr", "-GLeap=33"}, BadParameter{"lfsr", "-GLeap=0"},
        BadParameter{"quantizer", "-GRndBits=8"}, BadParameter{"drain_lane", "-GRound=2 -GRndBits=17"},
        BadParameter{"gemmlowp_quantizer", "-GRound=1"}, BadParameter{"weight_update", "-GRound=1"},
        BadParameter{"fp_round", "-GRound=9"}, BadParameter{"quantizer", "-GRound=9"},
        BadParameter{"fp8_mac", "-GAccRound=9"}, BadParameter{"drain_lane", "-GRound=9"},
        BadParameter{"mac_array", "-GCRound=9"}, BadParameter{"gemmlowp_quantizer", "-GRound=9"},
        BadParameter{"weight_update", "-GRound=9"}, BadParameter{"weight_update", "-GPipeStages=5"},
        BadParameter{"gemmlowp_quantizer", "-GPipeStages=3"}, BadParameter{"quantizer", "-GPipeStages=2"},
        BadParameter{"fp8_mul", "-GPipeStages=2"}, BadParameter{"fp8_mul", "-GAMan=3"},
        BadParameter{"fp8_mac", "-GPipeStages=4"}, BadParameter{"fp8_mac", "-GBExp=6"},
        BadParameter{"fp8_pe", "-GAMan=3"}, BadParameter{"fp32_add", "-GPipeStages=3"},
        BadParameter{"fp32_mul", "-GPipeStages=3"}, BadParameter{"fp32_fma", "-GPipeStages=4"},
        BadParameter{"int_mac", "-GPipeStages=2"}, BadParameter{"int_mac", "-GBWidth=9"},
        BadParameter{"stochastic_pruner", "-GPipeStages=2"},
        BadParameter{"stochastic_pruner", "-GRndBits=33"}, BadParameter{"double_sampler", "-GPipeStages=3"},
        BadParameter{"double_sampler", "-GRndBits=33"}, BadParameter{"rle_encoder", "-GPipeStages=2"},
        BadParameter{"rle_decoder", "-GPipeStages=2"}, BadParameter{"rle_decoder", "-GLengthBits=15"},
        BadParameter{"skip_window", "-GWindow=1 -GPort=1"}, BadParameter{"skip_window", "-GPort=17"},
        BadParameter{"mac_array", "-GQuantStages=2"}, BadParameter{"mac_array", "-GAccExp=9"},
        BadParameter{"int_mac", "-GAccBits=49"}, BadParameter{"int_mac", "-GBWidth=16 -GAccBits=23"},
        BadParameter{"int_array", "-GDrainStages=2"}, BadParameter{"int_array", "-GABits=16 -GBBits=16"},
        BadParameter{"int_array", "-GABits=12"}, BadParameter{"int_array", "-GAccBits=15"},
        BadParameter{"zero_packer", "-GLanes=65"}, BadParameter{"zero_packer", "-GWidth=9"},
        BadParameter{"zero_packer", "-GPipeStages=3"}, BadParameter{"zero_unpacker", "-GLanes=65"},
        BadParameter{"zero_unpacker", "-GWidth=1"}, BadParameter{"zero_unpacker", "-GPipeStages=3"},
        BadParameter{"lowering_unit", "-GLanes=0"}, BadParameter{"lowering_unit", "-GPort=17"},
        BadParameter{"lowering_unit", "-GLineBits=33"}, BadParameter{"lowering_unit", "-GElementBits=1"},
        BadParameter{"lowering_unit", "-GLengthBits=2"}, BadParameter{"lowering_unit", "-GLengthBits=33"},
        BadParameter{"norm_statistics", "-GColumns=0"}, BadParameter{"norm_statistics", "-GColumns=4097"},
        BadParameter{"block_array", "-GSumRows=17"}, BadParameter{"block_array", "-GAccExp=9"},
        BadParameter{"int_block_array", "-GSumRows=17"}, BadParameter{"int_block_array", "-GABits=12"},
        BadParameter{"int_block_array", "-GAccBits=15"}));

bool exact_product(const Format& a, const Format& b) {
  try {
    check_exact_product(a, b);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

std::string format_parameters(const std::string& prefix, const Format& format) {
  const auto set = [&prefix](const char* name, int value) {
    return " -G" + prefix + name + "=" + std::to_string(value);
  };
  return set("Exp", format.exponent_bits) + set("Man", format.mantissa_bits) + set("Bias", format.bias) +
         set("Specials", static_cast<int>(format.specials));
}

// The RTL takes exactly the formats that the golden model takes. Tried are the biases on both sides of
// either end of FP32's range.
TEST(RtlProduct, MustBeExactInFp32) {
  for (const char* text : {"e5m2", "e4m3", "e4m3:fnuz", "e7m0", "e6m1", "e6m1:fn", "e3m4:finite", "e2m5"}) {
    const auto operands = [text](int biases) {
      std::pair both(Format::parse(text), Format::parse(text));
      both.first.bias = biases / 2;
      both.second.bias = biases - biases / 2;
      return both;
    };
    int ends = 0;
    for (int biases = 0; biases < 400; ++biases) {
      const auto [a, b] = operands(biases);
      const auto [next_a, next_b] = operands(biases + 1);
      if (exact_product(a, b) == exact_product(next_a, next_b)) continue;
      ++ends;
      for (const auto& [x, y] : {operands(biases), operands(biases + 1)}) {
        const Finished run = lint("fp8_mul", format_parameters("A", x) + format_parameters("B", y));
        EXPECT_EQ(run.exit_code == 0, exact_product(x, y))
            << text << ' ' << x.bias << ' ' << y.bias << run.err;
      }
    }
    EXPECT_GT(ends, 0) << text;
  }
}

// Yosys reads some SystemVerilog otherwise than Verilator does: what comes out of it must pass the same
// bench, and nothing may be a bit wide because Yosys does not know its type. Nets are split into bits, for in
// vectors that run through themselves bit by bit Verilator sees loops.
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
                     "! grep -E 'implicitly declared|Resizing cell port' log && "
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

TEST(RtlReadme, PortsAreWhatVerifyPrints) {
  const std::string list = run_mantissa({"verify", "--list"}).out;
  ASSERT_FALSE(list.empty());
  const std::string ports = contents(rtl + "/PORTS.md");
  const std::size_t begin = ports.find(list.substr(0, list.find('\n')));
  ASSERT_NE(begin, std::string::npos);
  EXPECT_EQ(ports.substr(begin), list) << "replace the tables of rtl/PORTS.md by: mantissa verify --list";
}

TEST(RtlReadme, NamesEveryModule) {
  const std::string readme = contents(rtl + "/README.md");
  for (const auto& entry : std::filesystem::directory_iterator(rtl)) {
    if (entry.path().extension() != ".sv") continue;
    const std::string module = entry.path().stem().string();
    EXPECT_NE(readme.find("`" + module + "`"), std::string::npos) << "rtl/README.md leaves out " << module;
  }
}

// The names after a keyword in the header of a module, up to its first `);`.
std::set<std::string> declared(const std::string& header, const std::string& pattern) {
  std::set<std::string> names;
  const std::regex declaration(pattern);
  for (std::sregex_iterator found(header.begin(), header.end(), declaration), end; found != end; ++found)
    names.insert((*found)[1]);
  return names;
}

TEST_P(Rtl, HasThePortsAndParametersOfTheList) {
  const Json& unit = unit_record(GetParam());
  const std::string module = unit["module"];
  const std::string source = contents(rtl + "/" + module + ".sv");
  const std::size_t begin = source.find("\nmodule " + module + " ");
  ASSERT_NE(begin, std::string::npos);
  const std::string header = source.substr(begin, source.find("\n);", begin) - begin);
  std::set<std::string> ports = {"clk_i", "rst_ni", "valid_i", "ready_o", "valid_o"};
  if (GetParam() != "fp8_pe" && GetParam() != "block_array" && GetParam() != "int_block_array")
    ports.insert("ready_i");
  for (const Json& port : unit["ports"]) ports.insert(port["name"]);
  EXPECT_EQ(declared(header, R"((?:input|output)\s+[^;\n]*?\b(\w+_n?[io])\b)"), ports);
  std::set<std::string> parameters;
  for (const Json& parameter : unit["parameters"]) parameters.insert(parameter["name"]);
  EXPECT_EQ(declared(header, R"(\n\s*parameter\s[^=\n]*?\b(\w+)\s*=)"), parameters);
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
