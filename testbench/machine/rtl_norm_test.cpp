// The batch norm units of the accelerator in RTL: the same bits and the same cycles, and a fault is found.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "sim/machine/norm_machine.hpp"
#include "sim/machine/norm_stream.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/machine/norm_cases.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

constexpr NormDirection directions[] = {NormDirection::forward, NormDirection::backward};

TEST(RtlNorm, AsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(71);
  struct Pair {
    Architecture arch;
    std::unique_ptr<NormMachine> rtl;
    std::unique_ptr<NormMachine> lockstep;
  };
  constexpr NormSize size{.channels = 9, .elements = 200};
  std::vector<Pair> pairs(6);
  for (Pair& pair : pairs) {
    pair.arch = random_norm_machine(engine, static_cast<int>(1 + engine() % 4));
    pair.rtl = std::make_unique<NormMachine>(pair.arch, size, AcceleratorOptions{.engine = Engine::rtl});
    pair.lockstep =
        std::make_unique<NormMachine>(pair.arch, size, AcceleratorOptions{.engine = Engine::lockstep});
  }
  for (const Pair& pair : pairs) {
    for (int i = 0; i < 8; ++i) {
      const NormCase norm = random_norm(engine, size.channels, 30);
      const NormAnswer answer(norm);
      for (const NormDirection direction : directions) {
        const NormJob job = answer.job(direction);
        const NormRun expected = answer.expected(pair.arch, job);
        ASSERT_EQ(difference(expected, pair.rtl->run(job)), "") << "rtl " << norm.text();
        ASSERT_EQ(difference(expected, pair.lockstep->run(job)), "") << "lockstep " << norm.text();
      }
    }
  }
}

// The second passes as streams.
TEST(RtlNorm, StreamsAsGoldenModelAndClosedForm) {
  std::mt19937_64 engine(74);
  const Architecture arch = random_stream_machine(engine, 3);
  NormStreamMachine rtl(arch, {.engine = Engine::rtl});
  NormStreamMachine lockstep(arch, {.engine = Engine::lockstep});
  for (int i = 0; i < 12; ++i) {
    const NormCase norm = random_norm(engine, 9, 30);
    const NormAnswer answer(norm);
    for (const NormDirection direction : directions) {
      const NormStreamJob stream = answer.second_pass(direction);
      for (NormStreamMachine* machine : {&rtl, &lockstep}) {
        const NormStreamRun run = machine->run(stream);
        ASSERT_EQ(run.cycles, stream_cycles(arch, stream_of(arch, stream))) << norm.text();
        ASSERT_EQ(run.codes, answer.results(direction)) << norm.text();
      }
    }
  }
}

// Lockstep stops on every job that the faulty RTL gets wrong on its own, and on none in the other direction.
void expect_found(const FaultyRtl& rtl, NormDirection faulty, const std::string& port,
                  const std::string& stage) {
  std::mt19937_64 engine(72);
  const Architecture arch = random_norm_machine(engine, 3);
  constexpr NormSize size{.channels = 9, .elements = 200};
  const Scratch scratch;
  const fs::path wave = fs::path(scratch.path()) / "difference.fst";
  NormMachine alone(arch, size, {.engine = Engine::rtl, .rtl_directory = rtl.directory()});
  NormMachine lockstep(arch, size,
                       {.engine = Engine::lockstep, .rtl_directory = rtl.directory(), .wave = wave});
  int found = 0;
  for (int i = 0; i < 200 && found < 2; ++i) {
    const NormCase norm = random_norm(engine, size.channels, 20);
    const NormAnswer answer(norm);
    for (const NormDirection direction : directions) {
      const NormJob job = answer.job(direction);
      const NormRun expected = answer.expected(arch, job);
      const bool wrong = !difference(expected, alone.run(job)).empty();
      EXPECT_TRUE(!wrong || direction == faulty) << norm.text();
      fs::remove(wave);
      try {
        EXPECT_EQ(difference(expected, lockstep.run(job)), "") << norm.text();
        EXPECT_FALSE(wrong) << "not found: " << norm.text();
      } catch (const LockstepError& error) {
        const LockstepDifference& difference = error.difference();
        ++found;
        EXPECT_EQ(difference.unit.find(faulty == NormDirection::forward ? "range_bn_forward, lane "
                                                                        : "range_bn_backward, lane "),
                  0U)
            << difference.unit;
        EXPECT_EQ(difference.seed, norm.run_seed);
        EXPECT_EQ(difference.mismatch.what, port + " is wrong");
        EXPECT_EQ(difference.mismatch.stage, stage);
        EXPECT_LT(difference.mismatch.cycle, expected.cycles.cycles());
        EXPECT_EQ(difference.mismatch.inputs.size(), faulty == NormDirection::forward ? 13U : 16U);
        EXPECT_EQ(difference.mismatch.outputs.size(), 6U);
        EXPECT_EQ(difference.wave, wave);
        EXPECT_GT(fs::file_size(wave), 1000U);
      }
    }
  }
  EXPECT_EQ(found, 2) << "the fault does not show";
}

TEST(RtlNorm, LockstepFindsAFaultInTheStatistics) {
  expect_found(FaultyRtl("range_bn_forward.sv", "mul_b = constant_i;", "mul_b = constant_i ^ 32'h1;"),
               NormDirection::forward, "second_o", "statistics");
}

TEST(LongRtlNorm, LockstepFindsAFaultInTheGradient) {
  expect_found(FaultyRtl("range_bn_backward.sv", "(index_q == argmin_i)", "(index_q == argmin_i + 1'b1)"),
               NormDirection::backward, "first_o", "dx");
}

// Without a SystemC unit beside it nothing else says so.
TEST(RtlNorm, AUnitThatNeverEndsIsAFailure) {
  const FaultyRtl rtl("range_bn_forward.sv", "ready_o = quotient_valid & result_ready;", "ready_o = 1'b0;");
  std::mt19937_64 engine(73);
  const Architecture arch = random_norm_machine(engine, 3);
  NormMachine alone(arch, {.channels = 9, .elements = 200},
                    {.engine = Engine::rtl, .rtl_directory = rtl.directory()});
  const NormCase norm = random_norm(engine, 9, 20);
  const NormAnswer answer(norm);
  EXPECT_THROW(alone.run(answer.job(NormDirection::forward)), UnitFailure);
  // The machine is free for the next job.
  const NormJob backward = answer.job(NormDirection::backward);
  EXPECT_EQ(difference(answer.expected(arch, backward), alone.run(backward)), "");
}

}  // namespace
}  // namespace mantissa::test
