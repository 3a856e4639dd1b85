// The second machine with the Verilated array in it: the same codes and the same cycles, and a fault in the
// RTL is found.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "sim/machine/block_accelerator.hpp"
#include "testbench/machine/block_cases.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/machine/machine_cases.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

// A build of the RTL array and many passes on it; buffers, DRAM and drain do not concern the RTL.
struct Build {
  int rows;
  int cols;
  int window = 4;
  int depth = 2;
  int port = 4;
  int sum_rows = 1;
  bool packs = false;  // always has an unpacker
  ElementType a = formats::e5m2;
  ElementType b = formats::e5m2;
};

BlockCase random_pass(std::mt19937_64& engine, const Build& build) {
  const auto fix = [&build](BlockCase& made) {
    made.arch.window = build.window;
    made.arch.depth = build.depth;
    made.arch.port = build.port;
    made.arch.sum_rows = build.sum_rows;
    if (build.packs) made.arch.gradient_storage = GradientStorage::packed;
    made.formats.a = build.a;
    made.formats.b = build.b;
    made.formats.accumulator = formats::fp32;
    // Unpackers of 64 lanes or of 8.
    made.arch.dram_burst_bytes = 8;
    made.arch.dram_burst_cycles = build.rows == build.cols ? 1 : 8;
  };
  return random_case(engine, build.rows, build.cols, fix);
}

constexpr Engine engines[] = {Engine::systemc, Engine::rtl, Engine::lockstep};

void expect_same_everywhere(const std::vector<Build>& builds, int passes) {
  std::mt19937_64 engine(54);
  struct Machine {
    BlockCase made;
    std::vector<std::unique_ptr<BlockAccelerator>> engines;
  };
  std::vector<Machine> all;
  for (const Build& build : builds) {
    for (int i = 0; i < passes; ++i) {
      Machine& one = all.emplace_back();
      one.made = random_pass(engine, build);
      for (const Engine each : engines) {
        one.engines.push_back(std::make_unique<BlockAccelerator>(one.made.arch, one.made.formats,
                                                                 AcceleratorOptions{.engine = each}));
      }
    }
  }
  for (const Machine& one : all) {
    const BlockArrayJob job = one.made.pass.job(one.made.arch, one.made.formats);
    const BlockGolden golden = golden_run(one.made.arch, one.made.formats, job);
    for (std::size_t which = 0; which < std::size(engines); ++which) {
      ASSERT_EQ(difference(golden.run, one.engines[which]->run(job)), "")
          << name_of(engines[which]) << " " << one.made.text();
    }
  }
}

TEST(BlockRtlMachine, SmallArraysAsGoldenKernelsAndClosedForm) {
  expect_same_everywhere(
      {{.rows = 4, .cols = 4}, {.rows = 4, .cols = 8, .depth = 1, .port = 1, .sum_rows = 3}}, 20);
}

TEST(BlockRtlMachine, SmallArraysOfIntegersAsGoldenKernelsAndClosedForm) {
  expect_same_everywhere(
      {{.rows = 4, .cols = 4, .a = ElementType::integer(8), .b = ElementType::integer(8)},
       {.rows = 4, .cols = 4, .sum_rows = 3, .a = ElementType::integer(16), .b = ElementType::integer(8)}},
      20);
}

// Units of RTL behind the drain.
TEST(BlockRtlMachine, StatisticsAtTheDrainAsGoldenModel) {
  std::mt19937_64 engine(57);
  struct Machine {
    BlockCase made;
    std::vector<std::unique_ptr<BlockAccelerator>> engines;
  };
  std::vector<Machine> all;
  while (all.size() < 12) {
    BlockCase made = random_pass(engine, {.rows = 4, .cols = 4});
    add_statistics(engine, made);
    if (made.pass.statistics == DrainStatistics::none || made.pass.outputs.cols() > 64) continue;
    Machine& one = all.emplace_back();
    for (const Engine each : engines) {
      one.engines.push_back(std::make_unique<BlockAccelerator>(
          made.arch, made.formats,
          AcceleratorOptions{.engine = each, .drain_statistics = {1, 1, made.pass.parts > 1}}));
    }
    one.made = std::move(made);
  }
  for (const Machine& one : all) {
    const BlockArrayJob job = one.made.pass.job(one.made.arch, one.made.formats);
    const BlockGolden golden = golden_run(one.made.arch, one.made.formats, job);
    for (std::size_t which = 0; which < std::size(engines); ++which) {
      const ArrayRun run = one.engines[which]->run(job);
      ASSERT_EQ(difference(golden.run, run), "") << name_of(engines[which]) << " " << one.made.text();
      ASSERT_EQ(difference(golden_statistics(job, one.made.formats, run.codes), run.statistics), "")
          << name_of(engines[which]) << " " << one.made.text();
    }
  }
}

TEST(BlockRtlMachine, LockstepFindsAFaultBehindTheDrain) {
  const FaultyRtl rtl("running_extremes.sv", "argmin_o = index_i;", "argmin_o = ~index_i;");
  std::mt19937_64 engine(58);
  BlockCase made = random_pass(engine, {.rows = 4, .cols = 4});
  while (made.pass.statistics != DrainStatistics::forward || made.pass.outputs.cols() > 64) {
    made = random_pass(engine, {.rows = 4, .cols = 4});
    add_statistics(engine, made);
  }
  const Scratch scratch;
  const fs::path wave = fs::path(scratch.path()) / "difference.fst";
  BlockAccelerator lockstep(made.arch, made.formats,
                            {.engine = Engine::lockstep,
                             .rtl_directory = rtl.directory(),
                             .wave = wave,
                             .drain_statistics = {1, 1, made.pass.parts > 1}});
  try {
    lockstep.run(made.pass.job(made.arch, made.formats));
    FAIL() << "not found";
  } catch (const LockstepError& error) {
    EXPECT_EQ(error.difference().unit.find("norm_statistics, lane "), 0U) << error.difference().unit;
    EXPECT_EQ(error.difference().mismatch.stage, "extremes");
    EXPECT_GT(fs::file_size(wave), 500U);
  }
}

TEST(LongBlockRtlMachine, AllArraysAsGoldenKernelsAndClosedForm) {
  expect_same_everywhere({{.rows = 8, .cols = 8, .window = 8, .sum_rows = 2},
                          {.rows = 16, .cols = 16, .window = 16, .sum_rows = 16},
                          {.rows = 4, .cols = 8, .window = 2, .depth = 4, .port = 2},
                          {.rows = 4, .cols = 4, .a = formats::e4m3, .b = formats::e4m3},
                          {.rows = 4,
                           .cols = 8,
                           .window = 8,
                           .port = 2,
                           .sum_rows = 2,
                           .a = ElementType::integer(8),
                           .b = ElementType::integer(16)},
                          {.rows = 2, .cols = 3, .window = 3, .port = 2, .sum_rows = 2, .b = formats::e4m3}},
                         24);
}

bool gives(BlockAccelerator& machine, const BlockArrayJob& job, const std::vector<std::uint32_t>& codes) {
  try {
    return machine.run(job).codes == codes;
  } catch (const UnitFailure&) {
    return false;
  }
}

// Lockstep stops on every pass that the faulty RTL gets wrong on its own, and on none with sound RTL.
void expect_found(const Build& build, const FaultyRtl& rtl, const std::string& unit, const std::string& port,
                  const std::string& stage) {
  std::mt19937_64 engine(55);
  const Scratch scratch;
  const fs::path wave = fs::path(scratch.path()) / "difference.fst";
  BlockCase made = random_pass(engine, build);
  made.arch.a_buffer_bytes = made.arch.b_buffer_bytes = made.arch.c_buffer_bytes = 1 << 16;
  BlockAccelerator alone(made.arch, made.formats, {.engine = Engine::rtl, .rtl_directory = rtl.directory()});
  BlockAccelerator lockstep(made.arch, made.formats,
                            {.engine = Engine::lockstep, .rtl_directory = rtl.directory(), .wave = wave});
  int found = 0;
  for (int i = 0; i < 12; ++i) {
    OwnedPass pass = random_pass(engine, build).pass;
    pass.a_bits = pass.b_bits = pass.c_bits = 0;
    const BlockArrayJob job = pass.job(made.arch, made.formats);
    const std::vector<std::uint32_t> right = golden_run(made.arch, made.formats, job).run.codes;
    const bool wrong = !gives(alone, job, right);
    try {
      EXPECT_EQ(lockstep.run(job).codes, right);
      EXPECT_FALSE(wrong) << "not found: " << pass.text();
    } catch (const LockstepError& error) {
      ++found;
      EXPECT_EQ(error.difference().unit, unit);
      EXPECT_EQ(error.difference().mismatch.what, port + " is wrong");
      EXPECT_EQ(error.difference().mismatch.stage, stage);
      EXPECT_EQ(error.difference().wave, wave);
      EXPECT_GT(fs::file_size(wave), 0U);
    }
  }
  EXPECT_GT(found, 3);
}

TEST(BlockRtlMachine, AFaultInAnElementIsFound) {
  expect_found({.rows = 4, .cols = 4},
               {"block_array.sv", ".a_i    (a[r*AW+:AW])", ".a_i    (a[r*AW+:AW] ^ AW'(r == 1))"},
               "block_array", "sum_o", "accumulate");
}

TEST(LongBlockRtlMachine, AFaultInAnElementOfIntegersIsFound) {
  expect_found(
      {.rows = 4, .cols = 4, .a = ElementType::integer(8), .b = ElementType::integer(8)},
      {"int_block_array.sv", "(b[(r*Cols+c)*BBits+:BBits])", "(b[(r*Cols+c)*BBits+:BBits] ^ BBits'(r == 1))"},
      "int_block_array", "sum_o", "accumulate");
}

TEST(BlockRtlMachine, AFaultInTheUnpackerIsFound) {
  expect_found(
      {.rows = 4, .cols = 4, .packs = true},
      {"zero_unpacker.sv", "code & {Width{beat.mask[i]}}", "code & {Width{beat.mask[i]}} & ~Width'(i == 3)"},
      "zero_unpacker", "codes_o", "codes");
}

TEST(BlockRtlMachine, AFaultInAnAddressIsFound) {
  expect_found(
      {.rows = 4, .cols = 4},
      {"lowering_unit.sv", "read_o[At] ? element : '0", "read_o[At] ? (element ^ ElementBits'(l == 1)) : '0"},
      "lowering_unit", "element_o", "element");
}

// Alone, it would go on beyond the ends of some runs.
TEST(LongBlockRtlMachine, AGeneratorThatLosesItsPlaceIsAFailure) {
  std::mt19937_64 engine(56);
  const FaultyRtl rtl("lowering_unit.sv", "left_q <= LengthBits'(most)", "left_q < LengthBits'(most)");
  const Build build{.rows = 4, .cols = 4};
  std::vector<BlockCase> cases(8);
  std::vector<std::unique_ptr<BlockAccelerator>> machines;
  for (BlockCase& made : cases) {
    made = random_pass(engine, build);
    const AcceleratorOptions options{.engine = Engine::rtl, .rtl_directory = rtl.directory()};
    machines.push_back(std::make_unique<BlockAccelerator>(made.arch, made.formats, options));
  }
  int failures = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const BlockArrayJob job = cases[i].pass.job(cases[i].arch, cases[i].formats);
    const ArrayRun right = golden_run(cases[i].arch, cases[i].formats, job).run;
    try {
      EXPECT_EQ(difference(right, machines[i]->run(job)), "");
    } catch (const UnitFailure& error) {
      EXPECT_STREQ(error.what(), "lowering_unit gives a beat that is not the run's");
      ++failures;
    }
  }
  EXPECT_GT(failures, 2);
}

}  // namespace
}  // namespace mantissa::test
