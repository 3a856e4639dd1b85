// What intervals of a timeline have in common with the counts of the same pass, whoever counted.
#pragma once

#include <gtest/gtest.h>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/pass_timeline.hpp"

namespace mantissa::test {

inline std::uint64_t sum_of(const std::vector<Interval>& intervals) {
  std::uint64_t sum = 0;
  for (const Interval& each : intervals) sum += each.end - each.begin;
  return sum;
}

// Of a whole pass.
inline void expect_sums(const PassTimeline& timeline, const GemmCycles& counted) {
  EXPECT_EQ(timeline.shown_cycles, counted.cycles());
  EXPECT_EQ(timeline.step_starts.size(), counted.steps);
  EXPECT_EQ(sum_of(timeline.of(Activity::compute)), counted.compute);
  EXPECT_EQ(sum_of(timeline.of(Activity::stall_load)), counted.stall_load);
  EXPECT_EQ(sum_of(timeline.of(Activity::stall_write_back)), counted.stall_write_back);
  EXPECT_EQ(sum_of(timeline.of(Activity::stall_drain)), counted.stall_drain);
}

// Each of a row behind the one before; those of the array without a gap.
inline void expect_order(const PassTimeline& timeline) {
  std::uint64_t array = 0;
  for (const Activity activity : activities) {
    std::uint64_t end = 0;
    for (const Interval& each : timeline.of(activity)) {
      EXPECT_LT(each.begin, each.end);
      EXPECT_GE(each.begin, end) << name_of(activity);
      end = each.end;
    }
    EXPECT_LE(end, timeline.shown_cycles);
    if (of_array(activity)) array += sum_of(timeline.of(activity));
  }
  EXPECT_EQ(array, timeline.shown_cycles);
}

}  // namespace mantissa::test
