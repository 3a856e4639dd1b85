// Whoever reads standard output: the verdict and the files are the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

// `true` ends without reading; the program waits until it has.
Finished without_reader(const Scratch& scratch, const std::string& command) {
  return run_shell("cd '" + scratch.path() + "'; mkfifo gone; exec 3<>gone 4>gone; exec 3<&-; mantissa " +
                   command + " >&4");
}

std::string bad_trace(const Scratch& scratch) {
  std::string path = scratch.path() + "/bad";
  std::ofstream(path, std::ios::binary)
      << trace_bytes(R"([{"name":"fc","kind":"linear"}])",
                     {{"s0.fc.input", {1, 1}, {std::numeric_limits<float>::infinity()}},
                      {"s0.fc.weight", {1, 1}},
                      {"s0.fc.grad_output", {1, 1}}});
  return path;
}

TEST(StandardOutput, AFailedCheckFailsWithoutAReader) {
  const Scratch scratch;
  const std::string bad = bad_trace(scratch);
  EXPECT_EQ(run_mantissa({"trace", "check", bad}).exit_code, 1);
  const Finished run = without_reader(scratch, "trace check bad");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_EQ(run.err, "");
  for (const std::string sink : {">&-", ">/dev/full", ">&- 2>&-", ">/dev/full 2>/dev/full"})
    EXPECT_EQ(run_shell(fmt::format("mantissa trace check {} {}", bad, sink)).exit_code, 1) << sink;
}

TEST(StandardOutput, FilesAreWrittenWithoutAReader) {
  const std::string learn = "train --net mlp --images 128 --epochs 1 --out r.json";
  const std::string replay =
      "replay " MANTISSA_SOURCE_DIR "/traces/fashion-cnn.safetensors --layers --out report";
  for (const std::string& command : {learn, replay, std::string("vectors lfsr --count 10 --out v.hex")}) {
    const Scratch scratch;
    const Finished run = without_reader(scratch, command);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const std::string file = command.substr(command.rfind(' ') + 1);
    EXPECT_TRUE(std::filesystem::exists(scratch.path() + "/" + file)) << command;
  }
  const Scratch scratch;
  const Finished full = run_shell("cd '" + scratch.path() + "'; mantissa " + learn + " >/dev/full");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_TRUE(contains(full.err, "cannot write standard output")) << full.err;
  EXPECT_TRUE(std::filesystem::exists(scratch.path() + "/r.json"));
}

// A file that gets a standard descriptor's number would receive what is printed.
TEST(StandardOutput, ClosedDescriptorsAreNotReused) {
  const std::string vectors = "mantissa vectors lfsr --count 10 --out ";
  const Finished run =
      run_in_scratch("mkdir a b && " + vectors + "a/v && " + vectors + "b/v >&- 2>&- <&- && diff -r a b");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(run_shell("mantissa calc mac <&-").exit_code, 2);  // there is nothing to read
}

TEST(StandardOutput, AStreamStopsWithItsReader) {
  const Scratch scratch;
  EXPECT_EQ(without_reader(scratch, "calc lfsr --seed 1 --count 18446744073709551615").exit_code, 0);
}

}  // namespace
}  // namespace mantissa::test
