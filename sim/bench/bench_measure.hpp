// How `mantissa bench` measures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sim/bench/bench_rows.hpp"

namespace mantissa::bench {

// A row that has not been measured yet.
struct BenchTask {
  std::string name;
  std::function<BenchRow()> measure;
};

// Seconds.
struct Best {
  double ours = std::numeric_limits<double>::infinity();
  double peer = std::numeric_limits<double>::infinity();
};

// Taken in turns, so that both meet the same neighbours on a shared machine.
Best best_of(int repeat, const std::function<void()>& ours, const std::function<void()>& peer);

// Kernels run on one SIMD target while this lives.
class ForcedTarget {
 public:
  explicit ForcedTarget(const std::string& name);
  ~ForcedTarget();
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

// N(0,1)
std::vector<float> normal_values(std::size_t count, std::uint64_t seed);

}  // namespace mantissa::bench
