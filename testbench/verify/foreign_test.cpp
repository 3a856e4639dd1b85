// Other people's RTL through `verify --dut`: independent MACs with other names, another latency, no clock at
// all; a wrong one; and everything that can be wrong with the request.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "testbench/cli/run_program.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

// In a directory of its own, for the waveform of a mismatch lands where the program runs.
Finished verify(const std::string& options) {
  return run_shell("dir=$(mktemp -d) && cd $dir && F=" MANTISSA_SOURCE_DIR
                   "/testbench/verify/foreign && { mantissa verify fp8_mac --vectors 20000 " +
                   options + "; code=$?; ls; rm -rf $dir; exit $code; }");
}

const std::string vendor =
    "--dut $F/wide_mac.sv --dut $F/vendor_mac.sv --top vendor_mac --map-file $F/ports.yaml";

TEST(ForeignDevice, OtherPortNamesByFile) {
  const Finished run = verify(vendor);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(ForeignDevice, FixedLatencyWithoutHandshake) {
  const Finished run = verify("--dut $F/wide_mac.sv --dut $F/latency3_mac.sv --top latency3_mac --latency 3");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(ForeignDevice, WrongLatencyIsAMismatch) {
  EXPECT_EQ(verify("--dut $F/wide_mac.sv --dut $F/latency3_mac.sv --top latency3_mac --latency 2").exit_code,
            1);
}

TEST(ForeignDevice, Combinational) {
  const Finished run = verify(
      "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=opb --map acc_i=addend --map "
      "acc_o=result");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(ForeignDevice, RoundingBugIsDiagnosed) {
  const Finished run = verify(vendor + " --param TiesAway=1");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("first wrong stage: round (the neighbour of the right result, on a tie)"),
            std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("guard 1 round 0 sticky 0"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("seed 1"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("again: mantissa verify fp8_mac"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("fp8_mac_seed1.fst\n"), std::string::npos) << "no waveform: " << run.out;
}

TEST(ForeignDevice, SilentDeviceIsAHang) {
  const Finished run = verify("--dut $F/silent_mac.sv --top silent_mac");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("it hangs"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("acc_i = "), std::string::npos) << "no last transaction: " << run.out;
}

struct BadRequest {
  const char* name;
  const char* options;
  const char* message;
};

class ForeignRequest : public testing::TestWithParam<BadRequest> {};

TEST_P(ForeignRequest, IsRefusedWithAReason) {
  const Finished run = verify(GetParam().options);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_NE(run.err.find(GetParam().message), std::string::npos) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Bad, ForeignRequest,
    testing::Values(
        BadRequest{"MissingFile", "--dut nowhere.sv --top x", "no such file: nowhere.sv"},
        BadRequest{"NoTop", "--dut $F/wide_mac.sv", "--top MODULE"},
        BadRequest{"TopNotThere", "--dut $F/wide_mac.sv --top narrow_mac",
                   "'narrow_mac' was not found in design"},
        BadRequest{"PortNotThere", "--dut $F/wide_mac.sv --top wide_mac --latency 0",
                   "the device has no port a_i"},
        BadRequest{"MappedPortNotThere", "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=op",
                   "no port op (mapped from a_i); the unit expects"},
        BadRequest{"WidthMismatch",
                   "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=addend --map "
                   "acc_i=opb --map acc_o=result",
                   "addend (mapped from b_i) has 32 bits, not 8"},
        BadRequest{
            "WrongDirection",
            "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=opb --map acc_i=result",
            "result (mapped from acc_i) is an output"},
        BadRequest{"BadLatency", "--dut $F/wide_mac.sv --top wide_mac --latency soon", "--latency 'soon'"},
        BadRequest{"NoDevice", "--top wide_mac", "give its files with --dut"},
        BadRequest{"BadMapFile", "--dut $F/wide_mac.sv --top wide_mac --map-file $F/wide_mac.sv",
                   "wide_mac.sv"},
        BadRequest{"MapFileMissing", "--dut $F/wide_mac.sv --top wide_mac --map-file none.yaml",
                   "no such file: none.yaml"}),
    [](const auto& test) { return test.param.name; });

TEST(VerifyRequest, UnknownUnitListsTheUnits) {
  const Finished run = run_mantissa({"verify", "fp9_mac"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("fp8_mac"), std::string::npos) << run.err;
}

TEST(VerifyRequest, UnknownConfigurationListsThem) {
  const Finished run = run_mantissa({"verify", "fp8_mac", "--config", "e9m9"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("'e5m2 fp32'"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace mantissa::test
