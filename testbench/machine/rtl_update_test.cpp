// The weight_update units of the second machine in RTL: the same bits and the same cycles, and a fault is
// found.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "sim/machine/update_machine.hpp"
#include "testbench/machine/faulty_rtl.hpp"
#include "testbench/machine/update_cases.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

TEST(RtlUpdate, AsGoldenModelAndClosedForm) {
  std::mt19937_64 random(84);
  struct Pair {
    Architecture arch;
    Rounding rounding;
    std::unique_ptr<UpdateMachine> rtl;
    std::unique_ptr<UpdateMachine> lockstep;
  };
  std::vector<Pair> pairs(4);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Pair& pair = pairs[i];
    pair.arch = random_update_machine(random);
    pair.rounding = i % 2 == 0 ? Rounding::rne() : Rounding::sr(13);
    pair.rtl =
        std::make_unique<UpdateMachine>(pair.arch, pair.rounding, AcceleratorOptions{.engine = Engine::rtl});
    pair.lockstep = std::make_unique<UpdateMachine>(pair.arch, pair.rounding,
                                                    AcceleratorOptions{.engine = Engine::lockstep});
  }
  for (const Pair& pair : pairs) {
    for (int i = 0; i < 10; ++i) {
      UpdateCase update = random_update(random, 100);
      update.config.rounding = pair.rounding;
      const UpdateRun expected = update.expected(pair.arch);
      ASSERT_EQ(difference(expected, pair.rtl->run(update.job())), "") << "rtl " << update.text();
      ASSERT_EQ(difference(expected, pair.lockstep->run(update.job())), "") << "lockstep " << update.text();
    }
  }
}

TEST(RtlUpdate, LockstepFindsAFault) {
  const FaultyRtl rtl("weight_update.sv", "stepped.skip ? stepped.w :", "stepped.skip ? ~stepped.w :");
  std::mt19937_64 random(85);
  const Architecture arch = random_update_machine(random);
  const Scratch scratch;
  const fs::path wave = fs::path(scratch.path()) / "difference.fst";
  UpdateMachine lockstep(arch, Rounding::rne(),
                         {.engine = Engine::lockstep, .rtl_directory = rtl.directory(), .wave = wave});
  int found = 0;
  for (int i = 0; i < 40 && found < 2; ++i) {
    UpdateCase update = random_update(random, 60);
    update.config.rounding = Rounding::rne();
    const UpdateJob job = update.job();
    const UpdateRun expected = update.expected(arch);
    fs::remove(wave);
    try {
      EXPECT_EQ(difference(expected, lockstep.run(job)), "") << update.text();
      EXPECT_FALSE(job.skip) << "not found: " << update.text();
    } catch (const LockstepError& error) {
      const LockstepDifference& difference = error.difference();
      ++found;
      EXPECT_TRUE(job.skip);
      EXPECT_EQ(difference.unit.find("weight_update, lane "), 0U) << difference.unit;
      EXPECT_EQ(difference.seed, update.run_seed);
      EXPECT_EQ(difference.mismatch.what, "w_o is wrong");
      EXPECT_EQ(difference.mismatch.stage, "weight");
      EXPECT_LT(difference.mismatch.cycle, expected.cycles.cycles());
      EXPECT_GT(fs::file_size(wave), 500U);
    }
  }
  EXPECT_EQ(found, 2) << "the fault does not show";
}

}  // namespace
}  // namespace mantissa::test
