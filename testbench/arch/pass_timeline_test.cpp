// Timelines of the worked examples of ARITHMETIC.md 7, interval by interval, and what a recorder leaves out.
#include "sim/arch/pass_timeline.hpp"

#include <gtest/gtest.h>

#include "sim/arch/block_cycles.hpp"
#include "testbench/arch/example_machine.hpp"
#include "testbench/arch/timeline_sums.hpp"

namespace mantissa::test {
namespace {

using Intervals = std::vector<Interval>;

// Non-zero elements of the example's rows, in windows of 4.
const std::vector<std::uint16_t> example_counts = {3, 1, 2, 1, 1, 0, 4, 2};

PassTimeline example_timeline(std::size_t most) {
  TimelineRecorder recorder(most);
  (void)gemm_cycles(example_machine(), {.m = 4, .n = 3, .k = 8}, true, example_counts, &recorder);
  return recorder.result();
}

TEST(PassTimeline, WorkedExampleOfTheFirstMachine) {
  const PassTimeline timeline = example_timeline(1000);
  EXPECT_EQ(timeline.shown_cycles, 78U);
  EXPECT_EQ(timeline.step_starts, (std::vector<std::uint64_t>{20, 30, 47, 59}));
  EXPECT_EQ(timeline.of(Activity::compute), (Intervals{{20, 26}, {30, 36}, {47, 55}, {59, 67}}));
  EXPECT_EQ(timeline.of(Activity::stall_load), (Intervals{{0, 20}, {40, 47}}));
  EXPECT_EQ(timeline.of(Activity::stall_drain), (Intervals{{26, 30}, {36, 40}, {55, 59}, {67, 71}}));
  EXPECT_EQ(timeline.of(Activity::stall_write_back), (Intervals{{71, 78}}));
  // 0..10 and 10..20 are one interval, and so are 20..28 and nothing.
  EXPECT_EQ(timeline.of(Activity::load), (Intervals{{0, 28}, {37, 47}}));
  EXPECT_EQ(timeline.of(Activity::drain), (Intervals{{26, 30}, {36, 40}, {55, 59}, {67, 71}}));
  EXPECT_EQ(timeline.of(Activity::write_back), (Intervals{{30, 37}, {47, 54}, {59, 66}, {71, 78}}));
}

// "Example, lines": data without the six cycles before it.
TEST(PassTimeline, WorkedExampleOfTheSecondMachine) {
  Architecture arch = example_machine();
  arch.mapping = Mapping::given;
  arch.dram_outstanding = 1;
  arch.a_buffer_bytes = arch.b_buffer_bytes = 3;
  arch.c_buffer_bytes = 8;
  BlockJob job;
  job.shape = {.in = {4, 1}, .out = {4, 1}, .kernel = {3, 1}, .padding = {1, 0}};
  job.outputs = {.row0 = 0, .row1 = 4, .col0 = 0, .col1 = 1};
  TimelineRecorder recorder(1000);
  const BlockCost cost =
      block_cycles(arch, job, {.m_block = 2, .n_block = 2, .k_block = 4}, {}, {}, &recorder);
  const PassTimeline timeline = recorder.result();
  expect_sums(timeline, cost.cycles);
  expect_order(timeline);
  EXPECT_EQ(timeline.shown_cycles, 54U);
  EXPECT_EQ(timeline.step_starts, (std::vector<std::uint64_t>{14, 34}));
  EXPECT_EQ(timeline.of(Activity::load), (Intervals{{6, 7}, {13, 14}, {25, 26}}));
  EXPECT_EQ(timeline.of(Activity::compute), (Intervals{{14, 19}, {34, 39}}));
  EXPECT_EQ(timeline.of(Activity::drain), (Intervals{{23, 27}, {43, 47}}));
  EXPECT_EQ(timeline.of(Activity::write_back), (Intervals{{33, 34}, {53, 54}}));
  EXPECT_EQ(timeline.of(Activity::stall_load), (Intervals{{0, 14}}));
  EXPECT_EQ(timeline.of(Activity::stall_drain), (Intervals{{19, 27}, {39, 47}}));
  EXPECT_EQ(timeline.of(Activity::stall_write_back), (Intervals{{27, 34}, {47, 54}}));
}

// The loads, the stall, the first step and its compute are five; what goes on beside them is cut at 26.
TEST(PassTimeline, ARecorderLooksAwayAfterItsNumberOfIntervals) {
  const PassTimeline timeline = example_timeline(4);
  EXPECT_EQ(timeline.shown_cycles, 26U);
  EXPECT_EQ(timeline.step_starts, (std::vector<std::uint64_t>{20}));
  EXPECT_EQ(timeline.of(Activity::compute), (Intervals{{20, 26}}));
  EXPECT_EQ(timeline.of(Activity::stall_load), (Intervals{{0, 20}}));
  EXPECT_EQ(timeline.of(Activity::load), (Intervals{{0, 26}}));
  EXPECT_TRUE(timeline.of(Activity::drain).empty());
  expect_order(timeline);
}

TEST(PassTimeline, GroupsComeOneAfterTheOther) {
  TimelineRecorder recorder(1000);
  recorder.step(1);
  recorder.add(Activity::stall_load, 0, 1);
  recorder.add(Activity::compute, 1, 5);
  recorder.shift(5);
  recorder.add(Activity::stall_load, 0, 2);
  recorder.step(2);
  recorder.add(Activity::compute, 2, 3);
  const PassTimeline timeline = recorder.result();
  EXPECT_EQ(timeline.step_starts, (std::vector<std::uint64_t>{1, 7}));
  EXPECT_EQ(timeline.of(Activity::compute), (Intervals{{1, 5}, {7, 8}}));
  EXPECT_EQ(timeline.of(Activity::stall_load), (Intervals{{0, 1}, {5, 7}}));
  EXPECT_EQ(timeline.shown_cycles, 8U);
}

}  // namespace
}  // namespace mantissa::test
