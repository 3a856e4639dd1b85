// The accelerator with the Verilated array in it: the same codes and the same cycles, and a fault in the RTL
// is found.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "sim/machine/accelerator.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

// A build of the RTL array and many jobs on it; buffers and DRAM do not concern the RTL.
struct Build {
  int rows;
  int cols;
  Rounding drain = Rounding::rne();
  int window = 16;
  int depth = 2;
  int port = 4;
  int pipe_latency = 2;
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
  Format c = formats::e5m2;
  Overflow overflow = Overflow::ieee;
};

Architecture machine(std::mt19937_64& engine, const Build& build) {
  Architecture arch = random_machine(engine, build.rows, build.cols);
  const std::int64_t side = std::max(build.rows, build.cols);
  arch.window = build.window;
  arch.depth = build.depth;
  arch.port = build.port;
  arch.pipe_latency = build.pipe_latency;
  arch.acc_double_buffer = false;
  arch.a_buffer_bytes = 8 * side * build.window + static_cast<std::int64_t>(engine() % 4000);
  arch.b_buffer_bytes = 8 * side * build.window + static_cast<std::int64_t>(engine() % 4000);
  return arch;
}

ArrayFormats formats_of(const Build& build) {
  return {.a = build.a, .b = build.b, .c = build.c, .c_rounding = build.drain, .c_overflow = build.overflow};
}

void expect_same_everywhere(const std::vector<Build>& builds, int machines, int jobs) {
  std::mt19937_64 engine(51);
  struct Machine {
    Architecture arch;
    ArrayFormats formats;
    std::vector<std::unique_ptr<Accelerator>> engines;
  };
  constexpr Engine engines[] = {Engine::systemc, Engine::rtl, Engine::lockstep};
  std::vector<Machine> all;
  for (const Build& build : builds) {
    for (int i = 0; i < machines; ++i) {
      Machine& one = all.emplace_back();
      one.arch = machine(engine, build);
      one.formats = formats_of(build);
      for (const Engine each : engines) {
        one.engines.push_back(
            std::make_unique<Accelerator>(one.arch, one.formats, AcceleratorOptions{.engine = each}));
      }
    }
  }
  for (const Machine& one : all) {
    for (int i = 0; i < jobs; ++i) {
      const OwnedJob owned = random_job(engine, one.formats, 2 * one.arch.rows + 20);
      const ArrayJob job = owned.job(one.arch, one.formats);
      const ArrayRun expected = golden_run(one.arch, one.formats, job);
      for (std::size_t which = 0; which < std::size(engines); ++which) {
        ASSERT_EQ(difference(expected, one.engines[which]->run(job)), "")
            << name_of(engines[which]) << " " << one.arch.rows << "x" << one.arch.cols << " " << owned.text();
      }
    }
  }
}

// Golden model and closed form, which are the engine `fast`, and the three others on every job. The normal
// tests take the arrays that come with a build: 224 jobs on all four sizes, recipe fp8 and integers. The long
// ones add the formats of the other recipes, other windows, depths and ports.

TEST(RtlMachine, SmallArraysAsGoldenModelAndClosedForm) {
  expect_same_everywhere({{.rows = 4, .cols = 4}, {.rows = 4, .cols = 8, .drain = Rounding::sr(16)}}, 5, 8);
}

TEST(RtlMachine, LargeArraysAsGoldenModelAndClosedForm) {
  expect_same_everywhere({{.rows = 8, .cols = 8, .drain = Rounding::sr(16)}, {.rows = 16, .cols = 16}}, 4,
                         10);
}

TEST(RtlMachine, IntegersAsGoldenModelAndClosedForm) {
  expect_same_everywhere(
      {{.rows = 4, .cols = 4, .a = ElementType::integer(8), .b = ElementType::integer(8)},
       {.rows = 4, .cols = 4, .a = ElementType::integer(16), .b = ElementType::integer(8)}},
      4, 8);
}

TEST(LongRtlMachine, AllArraysAsGoldenModelAndClosedForm) {
  std::vector<Build> builds;
  for (const auto& [rows, cols] : {std::pair(4, 4), std::pair(4, 8), std::pair(8, 8), std::pair(16, 16)}) {
    builds.push_back({.rows = rows, .cols = cols});
    builds.push_back({.rows = rows, .cols = cols, .drain = Rounding::sr(16)});
  }
  builds.push_back({.rows = 8, .cols = 8, .window = 8, .depth = 4, .port = 3, .pipe_latency = 1});
  builds.push_back({.rows = 4, .cols = 8, .window = 2, .depth = 1, .port = 1});
  builds.push_back({.rows = 4,
                    .cols = 4,
                    .depth = 3,
                    .port = 16,
                    .a = formats::e4m3,
                    .b = formats::e4m3,
                    .c = formats::e4m3});
  // Recipe fp8-hybrid: forward, and both gradients.
  const Format e4m3 = formats::e4m3;
  builds.push_back({.rows = 8, .cols = 8, .a = e4m3, .b = e4m3, .c = e4m3, .overflow = Overflow::saturate});
  builds.push_back({.rows = 4, .cols = 8, .drain = Rounding::sr(16), .b = e4m3});
  // Recipe lognormal-sparse: a format chosen for the gradient, errors that saturate.
  builds.push_back({.rows = 4, .cols = 4, .a = e4m3, .overflow = Overflow::saturate});
  builds.push_back(
      {.rows = 8, .cols = 8, .pipe_latency = 1, .a = ElementType::integer(8), .b = ElementType::integer(16)});
  expect_same_everywhere(builds, 4, 6);
}

// Lockstep stops on every job that the faulty RTL gets wrong on its own, and on none with sound RTL.
void expect_found(const FaultyRtl& rtl, const std::string& port, const std::string& stage,
                  const ElementType& type = formats::e5m2) {
  std::mt19937_64 engine(52);
  const Build build{.rows = 4, .cols = 4, .a = type, .b = type};
  const Architecture arch = machine(engine, build);
  const ArrayFormats formats = formats_of(build);
  const Scratch scratch;
  const fs::path wave = fs::path(scratch.path()) / "difference.fst";
  Accelerator alone(arch, formats, {.engine = Engine::rtl, .rtl_directory = rtl.directory()});
  Accelerator lockstep(arch, formats,
                       {.engine = Engine::lockstep, .rtl_directory = rtl.directory(), .wave = wave});
  Accelerator sound(arch, formats, {.engine = Engine::lockstep});
  int found = 0;
  for (int i = 0; i < 200 && found < 2; ++i) {
    const OwnedJob owned = random_job(engine, formats, 24);
    const ArrayJob job = owned.job(arch, formats);
    const ArrayRun expected = golden_run(arch, formats, job);
    EXPECT_EQ(difference(expected, sound.run(job)), "") << owned.text();
    const bool wrong = !difference(expected, alone.run(job)).empty();
    fs::remove(wave);
    try {
      EXPECT_EQ(difference(expected, lockstep.run(job)), "") << owned.text();
      EXPECT_FALSE(wrong) << "not found: " << owned.text();
    } catch (const LockstepError& error) {
      const LockstepDifference& difference = error.difference();
      ++found;
      EXPECT_EQ(difference.unit, formats.integers() ? "int_array" : "mac_array");
      EXPECT_EQ(difference.seed, owned.run_seed);
      EXPECT_EQ(difference.mismatch.what, port + " is wrong");
      EXPECT_EQ(difference.mismatch.stage, stage);
      EXPECT_EQ(difference.mismatch.model, "rtl");
      EXPECT_LT(difference.mismatch.cycle, expected.cycles.cycles());
      EXPECT_EQ(difference.mismatch.inputs.size(), formats.integers() ? 9U : 13U);
      EXPECT_EQ(difference.mismatch.outputs.size(), formats.integers() ? 5U : 8U);
      bool differs = false;
      for (const Mismatch::Value& value : difference.mismatch.outputs)
        differs = differs || (value.port == port && value.expected != value.actual);
      EXPECT_TRUE(differs) << error.what();
      EXPECT_EQ(difference.wave, wave);
      EXPECT_GT(fs::file_size(wave), 1000U);
    }
  }
  EXPECT_EQ(found, 2) << "the fault does not show";
}

TEST(RtlMachine, LockstepFindsAFaultInTheSums) {
  expect_found(FaultyRtl("fp_mac.sv", "exp + ExpW'(raw[ProdW-1])", "exp"), "tap_o", "accumulate");
}

TEST(LongRtlMachine, LockstepFindsAFaultInTheSumsOfIntegers) {
  expect_found(FaultyRtl("int_array.sv", "b[(r*Cols+c)*BBits+:BBits]", "b[r*Cols*BBits+:BBits]"), "c_o",
               "accumulate", ElementType::integer(8));
}

TEST(LongRtlMachine, LockstepFindsAFaultInTheDrain) {
  expect_found(FaultyRtl("quantizer.sv", "{{ExpW - 8{scale_i[7]}}, scale_i}", "{{ExpW - 8{1'b0}}, scale_i}"),
               "c_o", "bias or quantize");
}

TEST(LongRtlMachine, LockstepFindsAFaultInTheControl) {
  expect_found(FaultyRtl("beat_codes.sv", "((used_i & ~nonzero_o[p*Rows+:Rows]) != '0)",
                         "(nonzero_o[p*Rows] != nonzero_o[p*Rows])"),
               "suppressed_o", "");
}

}  // namespace
}  // namespace mantissa::test
