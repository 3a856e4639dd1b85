// Work shared between threads by contiguous ranges: no result may depend on how many there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

namespace mantissa {

// Minimum number of elements of cheap work that is worth sharing with another thread.
constexpr std::int64_t worth_a_thread = 1 << 14;

// Calls run(0) to run(count - 1), each once, on this thread and on others that wait for work between calls:
// a training step has hundreds of short parallel loops, and starting threads for each would cost more than
// many of them. A call from inside of such a run, or while another thread's call is under way, stays on its
// own thread. `run` must not throw.
void run_in_parallel(std::int64_t count, const std::function<void(std::int64_t)>& run);

// Calls body(begin, end) on disjoint ranges that cover [0, count), each but the last a multiple of `grain`.
// The first exception of any range is rethrown.
template <class Body>
void parallel_ranges(std::int64_t count, std::int64_t grain, int threads, const Body& body) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t workers = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(grains, 1));
  if (workers == 1) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
  std::vector<std::exception_ptr> failure(workers);
  run_in_parallel(workers, [&](std::int64_t worker) {
    try {
      const std::int64_t begin = grains * worker / workers * grain;
      const std::int64_t end = std::min(grains * (worker + 1) / workers * grain, count);
      if (begin < end) body(begin, end);
    } catch (...) {
      failure[worker] = std::current_exception();
    }
  });
  for (const std::exception_ptr& each : failure) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace mantissa
