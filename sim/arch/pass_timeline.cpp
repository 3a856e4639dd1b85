#include "sim/arch/pass_timeline.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa {

std::string_view name_of(Activity activity) {
  switch (activity) {
    case Activity::compute:
      return "compute";
    case Activity::stall_load:
      return "stall_load";
    case Activity::stall_write_back:
      return "stall_write_back";
    case Activity::stall_drain:
      return "stall_drain";
    case Activity::load:
      return "load";
    case Activity::write_back:
      return "write_back";
    case Activity::drain:
      return "drain";
  }
  throw std::logic_error("an activity without a name");
}

void TimelineRecorder::add(Activity activity, std::uint64_t begin, std::uint64_t end) {
  begin += offset_;
  end += offset_;
  if (begin == end || (full_ && (of_array(activity) || begin >= timeline_.shown_cycles))) return;
  std::vector<Interval>& all = timeline_.intervals[static_cast<std::size_t>(activity)];
  if (!all.empty() && all.back().end == begin) {
    all.back().end = end;
  } else {
    all.push_back({begin, end});
    ++kept_;
  }
  if (of_array(activity)) timeline_.shown_cycles = end;
  full_ = full_ || (kept_ >= most_ && of_array(activity));
}

void TimelineRecorder::step(std::uint64_t start) {
  if (full_) return;
  timeline_.step_starts.push_back(start + offset_);
  ++kept_;
}

PassTimeline TimelineRecorder::result() const {
  PassTimeline result = timeline_;
  for (std::vector<Interval>& all : result.intervals) {
    std::erase_if(all, [&](const Interval& each) { return each.begin >= result.shown_cycles; });
    for (Interval& each : all) each.end = std::min(each.end, result.shown_cycles);
  }
  return result;
}

}  // namespace mantissa
