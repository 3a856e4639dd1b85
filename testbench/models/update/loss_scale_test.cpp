// The loss-scale schedule, step by step: back-off, growth, limits, rising floor.
#include "models/update/loss_scale.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mantissa {
namespace {

void run(LossScale& scale, int steps, bool skipped) {
  for (int i = 0; i < steps; ++i) scale.update(skipped);
}

TEST(LossScale, HalvesAfterASkippedStep) {
  LossScale scale({.initial_exponent = 15});
  EXPECT_EQ(scale.value(), 32768.0F);
  scale.update(true);
  EXPECT_EQ(scale.value(), 16384.0F);
  scale.update(true);
  EXPECT_EQ(scale.exponent(), 13);
  EXPECT_EQ(scale.step(), 2);
}

TEST(LossScale, DoublesAfterTheGrowthIntervalOfCleanSteps) {
  LossScale scale({.initial_exponent = 10});
  run(scale, 1999, false);
  EXPECT_EQ(scale.exponent(), 10);
  scale.update(false);
  EXPECT_EQ(scale.exponent(), 11);
  run(scale, 1999, false);
  EXPECT_EQ(scale.exponent(), 11);
  scale.update(false);
  EXPECT_EQ(scale.exponent(), 12);
}

TEST(LossScale, ASkippedStepStartsTheCountAgain) {
  LossScale scale({.initial_exponent = 10, .growth_interval = 3});
  run(scale, 2, false);
  scale.update(true);
  run(scale, 2, false);
  EXPECT_EQ(scale.exponent(), 9);
  scale.update(false);
  EXPECT_EQ(scale.exponent(), 10);
}

TEST(LossScale, StaysWithinItsLimits) {
  LossScale scale({.initial_exponent = 24, .growth_interval = 1});
  run(scale, 5, false);
  EXPECT_EQ(scale.exponent(), 24);
  EXPECT_EQ(scale.value(), 16777216.0F);
  run(scale, 100, true);
  EXPECT_EQ(scale.exponent(), -14);
  EXPECT_EQ(scale.value(), 0x1p-14F);
  scale.update(false);
  EXPECT_EQ(scale.exponent(), -13);
}

TEST(LossScale, FloorRisesBySchedule) {
  // The published schedule for GNMT: 8K after 40K iterations, 32K after 150K.
  LossScale scale(
      {.initial_exponent = 10, .growth_interval = 1000000, .floors = {{40000, 13}, {150000, 15}}});
  run(scale, 39999, false);
  EXPECT_EQ(scale.exponent(), 10);
  scale.update(false);
  EXPECT_EQ(scale.step(), 40000);
  EXPECT_EQ(scale.exponent(), 13);
  scale.update(true);  // an overflow at the floor is spurious: the step is lost, the scale stays
  EXPECT_EQ(scale.exponent(), 13);
  run(scale, 150000 - 40001, false);
  EXPECT_EQ(scale.exponent(), 15);
}

TEST(LossScale, ScaleAboveTheFloorIsNotMovedByIt) {
  LossScale scale({.initial_exponent = 20, .growth_interval = 5, .floors = {{0, 4}, {3, 18}}});
  run(scale, 3, true);
  EXPECT_EQ(scale.exponent(), 18);  // 20, 19, 18, then 17 is below the floor of step 3
  scale.update(true);
  EXPECT_EQ(scale.exponent(), 18);
  run(scale, 5, false);
  EXPECT_EQ(scale.exponent(), 19);
  scale.update(true);
  EXPECT_EQ(scale.exponent(), 18);
}

TEST(LossScale, FloorOfStepZeroLiftsTheInitialScale) {
  EXPECT_EQ(LossScale({.initial_exponent = 2, .floors = {{0, 7}}}).exponent(), 7);
}

TEST(LossScale, RefusesBadSchedules) {
  EXPECT_THROW(LossScale({.initial_exponent = 25}), std::invalid_argument);
  EXPECT_THROW(LossScale({.initial_exponent = -15}), std::invalid_argument);
  EXPECT_THROW(LossScale({.growth_interval = 0}), std::invalid_argument);
  EXPECT_THROW(LossScale({.floors = {{0, 25}}}), std::invalid_argument);
  EXPECT_THROW(LossScale({.floors = {{-1, 5}}}), std::invalid_argument);
  EXPECT_THROW(LossScale({.floors = {{5, 5}, {5, 6}}}), std::invalid_argument);
  EXPECT_THROW(LossScale({.floors = {{5, 5}, {6, 4}}}), std::invalid_argument);
}

TEST(LossScale, GoesOnWhereAnotherStood) {
  const LossScaleConfig config{
      .initial_exponent = 5, .growth_interval = 3, .floors = {{.step = 8, .exponent = 6}}};
  LossScale whole(config);
  for (int step = 0; step < 4; ++step) whole.update(step == 1);
  LossScale resumed(config);
  resumed.restore(whole.exponent(), whole.step(), whole.clean_steps());
  for (int step = 4; step < 20; ++step) {
    whole.update(step == 9);
    resumed.update(step == 9);
    EXPECT_EQ(resumed.exponent(), whole.exponent()) << step;
  }
  EXPECT_THROW(resumed.restore(25, 0, 0), std::invalid_argument);
  EXPECT_THROW(resumed.restore(0, -1, 0), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
