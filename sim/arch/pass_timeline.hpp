// What array and memory do in a pass, cycle by cycle: intervals that the timelines of the closed form tell a
// recorder, as many as somebody wants to look at.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mantissa {

// The array's four fill its time without a gap; the other three go on beside it.
enum class Activity : std::uint8_t {
  compute,
  stall_load,
  stall_write_back,
  stall_drain,
  load,        // data from DRAM; on the first machine with the latency before it
  write_back,  // the same, to DRAM
  drain,
};
inline constexpr std::array<Activity, 7> activities = {
    Activity::compute,     Activity::stall_load, Activity::stall_write_back,
    Activity::stall_drain, Activity::load,       Activity::write_back,
    Activity::drain};
std::string_view name_of(Activity activity);  // "compute", "stall_load", ...
constexpr bool of_array(Activity activity) { return activity <= Activity::stall_drain; }

struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

struct PassTimeline {
  std::array<std::vector<Interval>, activities.size()> intervals;
  std::vector<std::uint64_t> step_starts;
  std::uint64_t shown_cycles = 0;  // from the first cycle on; what comes later is left out

  const std::vector<Interval>& of(Activity activity) const {
    return intervals[static_cast<std::size_t>(activity)];
  }
};

class TimelineRecorder {
 public:
  // Looks away after so many intervals and steps of the array.
  explicit TimelineRecorder(std::size_t most) : most_(most) {}

  // Those of the array in order, each where the one before ended; neighbours are joined.
  void add(Activity activity, std::uint64_t begin, std::uint64_t end);
  void step(std::uint64_t start);
  // What follows starts so much later: the products of groups come one after the other.
  void shift(std::uint64_t cycles) { offset_ += cycles; }
  // Without what lies behind the last interval of the array.
  PassTimeline result() const;

 private:
  std::size_t most_;
  std::size_t kept_ = 0;
  bool full_ = false;
  std::uint64_t offset_ = 0;
  PassTimeline timeline_;
};

}  // namespace mantissa
