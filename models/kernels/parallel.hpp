// Work shared between threads by contiguous ranges: no result may depend on how many there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace mantissa::kernels {

// Of light work, a thread is worth starting for so many elements.
constexpr std::int64_t worth_a_thread = 1 << 14;

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
  const auto run = [&](std::int64_t worker) {
    try {
      const std::int64_t begin = grains * worker / workers * grain;
      const std::int64_t end = std::min(grains * (worker + 1) / workers * grain, count);
      if (begin < end) body(begin, end);
    } catch (...) {
      failure[worker] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    pool.reserve(workers - 1);
    std::int64_t worker = 1;
    try {
      for (; worker < workers; ++worker) pool.emplace_back(run, worker);
    } catch (const std::system_error&) {
      // No more threads to be had: what is left is done here.
    }
    run(0);
    for (; worker < workers; ++worker) run(worker);
  }
  for (const std::exception_ptr& each : failure) {
    if (each) std::rethrow_exception(each);
  }
}

}  // namespace mantissa::kernels
