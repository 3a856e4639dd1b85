#include "sim/bench/bench_measure.hpp"

#include <algorithm>
#include <chrono>

#include "models/kernels/targets.hpp"
#include "models/random/normal.hpp"
#include "models/random/stream.hpp"

namespace mantissa::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Best best_of(int repeat, const std::function<void()>& ours, const std::function<void()>& peer) {
  Best best;
  for (int i = 0; i < repeat; ++i) {
    best.peer = std::min(best.peer, seconds(peer));
    best.ours = std::min(best.ours, seconds(ours));
  }
  return best;
}

ForcedTarget::ForcedTarget(const std::string& name) { kernels::force_target(name); }
ForcedTarget::~ForcedTarget() { kernels::force_target(""); }

std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = mix(seed * 0x10000000000ULL + i);
    values[i] = static_cast<float>(normal_quantile((static_cast<double>(word >> 12) + 0.5) * 0x1p-52));
  }
  return values;
}

}  // namespace mantissa::bench
