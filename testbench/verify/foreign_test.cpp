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
  return run_in_scratch("F=" MANTISSA_SOURCE_DIR
                        "/testbench/verify/foreign; mantissa verify fp8_mac --vectors 20000 " +
                        options + "; code=$?; ls; exit $code");
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

TEST(ForeignDevice, WrongLatencyIsNamedAsSuch) {
  const std::string device = "--dut $F/wide_mac.sv --dut $F/latency3_mac.sv --top latency3_mac --latency ";
  const Finished early = verify(device + "2");
  EXPECT_EQ(early.exit_code, 1);
  EXPECT_NE(early.out.find("the first answer of all: is the latency right?"), std::string::npos) << early.out;
  const Finished late = verify(device + "4");
  EXPECT_EQ(late.exit_code, 1);
  EXPECT_NE(late.out.find("the next transaction's answer"), std::string::npos) << late.out;
}

const std::string handshake = "--dut $F/wide_mac.sv --dut $F/handshake_mac.sv --top handshake_mac";

struct HandshakeFault {
  const char* define;
  const char* message;
};
void PrintTo(const HandshakeFault& fault, std::ostream* out) { *out << fault.define; }

class ForeignHandshake : public testing::TestWithParam<HandshakeFault> {};

// Whatever the seed: it decides about what is under way when the reset comes.
TEST_P(ForeignHandshake, FaultIsNamed) {
  for (const char* seed : {" --seed 1", " --seed 2", " --seed 3"}) {
    const Finished run = verify(handshake + " --define " + GetParam().define + seed);
    EXPECT_EQ(run.exit_code, 1) << seed << run.out;
    EXPECT_NE(run.out.find(GetParam().message), std::string::npos) << seed << run.out << run.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ForeignHandshake,
    testing::Values(HandshakeFault{"FORGETS_RESET", "an output is on offer right after reset"},
                    HandshakeFault{"WAITS_FOR_READY", "valid_o waits for ready_i"},
                    HandshakeFault{"LOSES_ONE", "the next transaction's answer: one was lost"},
                    HandshakeFault{"CALLS_FINISH", "ended the simulation"},
                    HandshakeFault{"HAS_ASSERTION", "ended the simulation"}),
    [](const auto& test) { return test.param.define; });

TEST(ForeignDevice, HandshakeWithoutFaultPasses) {
  const Finished run = verify(handshake);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
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
  EXPECT_NE(run.out.find("acc_o: expected c8786542 = -254357.031, got c8786543 = -254357.047"),
            std::string::npos)
      << run.out;
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

// The first operation without an answer is shown, and the run does not go on to its end.
TEST(ForeignDevice, SilentDeviceThatTakesEverythingIsAHang) {
  const Finished run = verify("--json --dut $F/silent_mac.sv --top silent_mac --define TAKES_ALL");
  EXPECT_EQ(run.exit_code, 1);
  const Json report = Json::parse(run.out.substr(0, run.out.rfind('}') + 1));
  const Json& mismatch = report["runs"][0]["mismatch"];
  EXPECT_EQ(mismatch["what"], "no output given for 10000 cycles: it hangs");
  EXPECT_LT(mismatch["cycle"], 11000);
  // The first of the corners is zero in every operand.
  EXPECT_EQ(mismatch["inputs"]["acc_i"], "00000000");
}

const std::string valid_only =
    "--dut $F/wide_mac.sv --dut $F/valid_only_mac.sv --top valid_only_mac --map clk_i=clk --map a_i=a --map "
    "b_i=b --map acc_i=acc --map acc_o=sum --map valid_i=in_valid ";

TEST(ForeignDevice, ValidWithoutReadyAndResetActiveHigh) {
  const Finished run = verify(valid_only + "--map 'rst_ni=!rst' --map valid_o=out_valid");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(run.out.find("does not drive"), std::string::npos) << run.out;
  const Finished inverted = verify(valid_only + "--map rst_ni=rst --map valid_o=out_valid");
  EXPECT_EQ(inverted.exit_code, 1) << "a reset of the wrong sense passed";
}

TEST(ForeignDevice, FixedLatencyWithEnable) {
  const Finished run = verify(valid_only + "--map 'rst_ni=!rst' --latency 2");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(ForeignDevice, GeneratorThatNeverDrawsIsAHang) {
  const Finished run = run_in_scratch("mantissa verify lfsr --vectors 500 --dut " MANTISSA_SOURCE_DIR
                                      "/testbench/verify/foreign/silent_lfsr.sv --top silent_lfsr");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("it hangs"), std::string::npos) << run.out << run.err;
}

// Inside of one evaluation no count of cycles helps.
TEST(ForeignDevice, LoopWithoutEndIsAHang) {
  for (const std::string define : {"LOOPS_INITIALLY", "LOOPS_LATER"}) {
    const Finished run = run_in_scratch(
        "timeout -s KILL 60 mantissa verify lfsr --timeout 2 --wave w.fst --config leap16 "
        "--dut " MANTISSA_SOURCE_DIR
        "/testbench/verify/foreign/looping_lfsr.sv --top looping_lfsr --define " +
        define + "; code=$?; ls -A; exit $code");
    EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
    EXPECT_NE(run.out.find("has not come back from a call for 2 s: it hangs"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("seed_i = "), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("--timeout 2\n"), std::string::npos) << "a file is left: " << run.out;
    EXPECT_EQ(run.out.substr(run.out.size() - 12), "--timeout 2\n") << "a file is left";
  }
}

TEST(ForeignDevice, DeviceThatEndsTheSimulationIsAMismatch) {
  const Finished run = verify("--dut $F/wide_mac.sv --dut $F/crashing_mac.sv --top crashing_mac --latency 0");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("ended the simulation"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("again: mantissa verify fp8_mac"), std::string::npos) << run.out;
}

TEST(ForeignDevice, AMismatchIsOneWithoutAReader) {
  // Standard output is a pipe that nobody reads any more.
  const std::string gone = "mkfifo gone; exec 3<>gone 4>gone; exec 3<&-; exec >&4; rm gone; ";
  const std::string command =
      "mantissa verify fp8_mac --vectors 2000 --latency 0 --top wide_mac --dut " MANTISSA_SOURCE_DIR
      "/testbench/verify/foreign/wide_mac.sv --map a_i=opa --map b_i=opb --map acc_i=addend --map "
      "acc_o=result";
  EXPECT_EQ(run_in_scratch(gone + command + " --param TiesAway=1").exit_code, 1);
  EXPECT_EQ(run_in_scratch(gone + command).exit_code, 0);
}

// It leaves no coverage data; the mismatch is told all the same.
TEST(ForeignDevice, CoverageOfADeviceThatEndsTheSimulation) {
  const Finished run =
      verify("--coverage . --dut $F/wide_mac.sv --dut $F/crashing_mac.sv --top crashing_mac --latency 0");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.out.find("ended the simulation"), std::string::npos) << run.out;
}

TEST(ForeignDevice, OddNamesAndWhatIsLeftOutIsListed) {
  const Finished run = verify(
      "--dut $F/wide_mac.sv --dut $F/odd_ports_mac.sv --top odd_ports_mac --latency 0 --map a_i=op__a --map "
      "b_i=op.b");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("not compared, because the device lacks it: flags_o tap_o\n"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("that the bench does not drive, held at 0: test_mode\n"), std::string::npos)
      << run.out;
}

TEST(ForeignDevice, UnitMayFollowTheFiles) {
  const Finished run = run_shell("mantissa verify --vectors 100 --dut " MANTISSA_SOURCE_DIR
                                 "/testbench/verify/foreign/wide_mac.sv fp8_mac --top wide_mac --latency 0 "
                                 "--map a_i=opa --map b_i=opb --map acc_i=addend --map acc_o=result");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

// Whatever is in a path, the printed command repeats the run.
TEST(ForeignDevice, PrintedCommandRepeatsTheMismatch) {
  const Finished run = run_in_scratch("F=" MANTISSA_SOURCE_DIR
                                      "/testbench/verify/foreign"
                                      R"sh(
      mkdir "it's  here" && cp $F/wide_mac.sv "it's  here/a \`b.sv"
      mantissa verify fp8_mac --vectors 20000 --dut "it's  here/a \`b.sv" --top wide_mac --latency 0 \
        --param TiesAway=1 --map a_i=opa --map b_i=opb --map acc_i=addend --map acc_o=result > first
      eval "$(sed -n 's/^  again: //p' first)" > second
      [ $? = 1 ] && diff <(grep -A2 MISMATCH first) <(grep -A2 MISMATCH second) && grep -c MISMATCH second)sh");
  EXPECT_EQ(run.out, "1\n") << run.err;
}

TEST(ForeignDevice, WaveformThatCannotBeWrittenIsAnError) {
  const Finished run = verify("--config 'e5m2 fp32' --wave nowhere/mac.fst");
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_NE(run.err.find("cannot write the waveform nowhere/mac.fst"), std::string::npos) << run.err;
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
        BadRequest{"UnknownPortMapped", "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map flag_o=result",
                   "the unit has no port flag_o (mapped to result)"},
        BadRequest{"OptionalPortMappedToNothing",
                   "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=opb --map "
                   "acc_i=addend --map acc_o=result --map flags_o=status",
                   "no port status (mapped from flags_o)"},
        BadRequest{"HandshakeMappedWithALatency",
                   "--dut $F/wide_mac.sv --dut $F/latency3_mac.sv --top latency3_mac --latency 3 --map "
                   "valid_o=acc_o",
                   "valid_o (mapped to acc_o) is of no use with a fixed latency"},
        BadRequest{"InvertedClock",
                   "--dut $F/wide_mac.sv --dut $F/latency3_mac.sv --top latency3_mac --latency 3 --map "
                   "'clk_i=!clk_i'",
                   "no port !clk_i"},
        BadRequest{"UnpackedPort",
                   "--dut $F/wide_mac.sv --dut $F/unpacked_mac.sv --top unpacked_mac --latency 0",
                   "port operands is an unpacked array"},
        BadRequest{"TwoPortsOnOne",
                   "--dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=opa --map "
                   "acc_i=addend --map acc_o=result",
                   "port opa of the device is mapped to more than one port of the unit"},
        BadRequest{"MapFileIsADirectory", "--dut $F/wide_mac.sv --top wide_mac --map-file $F",
                   "no such file"},
        BadRequest{"UnknownStage", "--corrupt rouding", "has no stage 'rouding'; it has product"},
        BadRequest{
            "CorruptedForeigner",
            "--corrupt round --dut $F/wide_mac.sv --top wide_mac --latency 0 --map a_i=opa --map b_i=opb "
            "--map acc_i=addend --map acc_o=result",
            "--corrupt changes the SystemC unit"},
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
