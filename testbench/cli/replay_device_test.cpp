// RTL in a replay that hangs, crashes, ends the program or waits for ever: a failed check that says so, and
// nothing is left.
#include <gtest/gtest.h>

#include <string>

#include "testbench/cli/replay_run.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

class ReplayDevice : public testing::Test {
 protected:
  // One batch norm: the RTL of its unit is all that is compiled. So many elements in a channel.
  std::string norm_trace(int elements) const {
    return written(scratch_, "trace" + std::to_string(elements),
                   trace_bytes(R"([{"name":"n","kind":"batchnorm","input_gradient":false}])",
                               {{"s0.n.input", {elements, 1}, {1, -2, 3, 4}},
                                {"s0.n.gamma", {1}, {1}},
                                {"s0.n.beta", {1}, {0}},
                                {"s0.n.grad_output", {elements, 1}, {1, 2, -1, 1}}}));
  }
  std::string linear_trace() const {
    return written(scratch_, "linear",
                   trace_bytes(R"([{"name":"f","kind":"linear","input_gradient":false}])",
                               {{"s0.f.input", {2, 2}, {1, 2, 3, 4}},
                                {"s0.f.weight", {2, 2}, {1, 2, 3, 4}},
                                {"s0.f.grad_output", {2, 2}, {1, 2, 3, 4}}}));
  }
  // Output, exit code, and the files of the directory in which it ran.
  Finished run(const std::string& trace, const FaultyRtl& rtl, const std::string& more) const {
    const std::string arch =
        written(scratch_, "small.yaml", "name: small\nrows: 2\ncols: 2\nwindow: 2\nport: 2\nnorm_lanes: 1\n");
    return run_in_scratch("timeout -s KILL 120 mantissa replay " + trace + " --recipe int8-rangebn --arch " +
                          arch + " --rtl " + rtl.directory().string() + " --engine rtl --out report " + more +
                          "; echo exit code $?; ls -A");
  }
  static void expect_failed(const Finished& run, const std::string& words) {
    EXPECT_TRUE(contains(run.out, words)) << run.out << run.err;
    EXPECT_TRUE(contains(run.out, "  again: ")) << run.out;
    EXPECT_TRUE(run.out.ends_with("\nexit code 1\n")) << run.out << run.err;
  }
  Scratch scratch_;
};

// One device does all of it: it looks at the number of elements.
TEST_F(ReplayDevice, HangsCrashesAndFinishIsAFailedCheck) {
  const FaultyRtl rtl("range_bn_forward.sv", "\nendmodule",
                      R"(
  logic [31:0] turns;
  always_comb begin
    turns = 32'd1;
    while (valid_i && count_i == IndexBits'(5) && turns != 32'd0) turns = turns + 32'd2;
  end
  always_ff @(posedge clk_i) begin
    if (turns == 32'd4) $display("so that turns is used");
    if (valid_i && count_i == IndexBits'(6)) $finish;
    if (valid_i && count_i == IndexBits'(7)) $fatal;
    if (valid_i && count_i == IndexBits'(9)) begin  // the second one ends the program at once
      $finish;
      $finish;
    end
  end
endmodule)");
  const Finished hung = run(norm_trace(5), rtl, "--timeout 2");
  expect_failed(hung, "MISMATCH: the device has not come back from a call for 2 s: it hangs");
  EXPECT_TRUE(contains(hung.out, "  count_i = 00005\n") && contains(hung.out, " --timeout 2")) << hung.out;
  const Finished finished = run(norm_trace(6), rtl, "");
  EXPECT_TRUE(contains(finished.err, "the device has called $finish")) << finished.err;
  EXPECT_TRUE(contains(finished.out, "exit code 1\n")) << finished.out;
  expect_failed(run(norm_trace(9), rtl, ""), "MISMATCH: the device ended the simulation\n");
  expect_failed(run(norm_trace(7), rtl, ""), "MISMATCH: the device ended the simulation by a crash\n");
  const Finished right = run(norm_trace(8), rtl, "--summary");
  EXPECT_TRUE(contains(right.out, "exit code 0\nreport\n")) << right.out << right.err;
}

TEST_F(ReplayDevice, AnArrayThatIsNeverReadyIsAFailedCheck) {
  const FaultyRtl rtl("int_array.sv", "= operands_ready & compute;", "= operands_ready & compute & ~rst_ni;");
  expect_failed(run(linear_trace(), rtl, "--set mapping=simple"),
                "forward, group 0, from tile 0: int_array: the job has not ended after ");
}

using LongReplayDevice = ReplayDevice;
TEST_F(LongReplayDevice, AnArrayThatIsNeverReadyIsAFailedCheck) {
  const FaultyRtl rtl("int_block_array.sv", "= operands_ready & compute;",
                      "= operands_ready & compute & ~rst_ni;");
  expect_failed(run(linear_trace(), rtl, "--set mapping=auto"), "the job has not ended after ");
}

}  // namespace
}  // namespace mantissa::test
