#include "sim/bench/bench_measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "models/kernels/targets.hpp"
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

// Two numbers by Box and Muller from one hash each.
std::vector<float> normal_values(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t word = mix(seed * 0x10000000000ULL + i);
    const double radius = std::sqrt(-2.0 * std::log((static_cast<double>(word >> 32) + 1.0) * 0x1p-32));
    values[i] = static_cast<float>(
        radius * std::cos(2.0 * std::numbers::pi * static_cast<double>(word & 0xFFFFFFFF) * 0x1p-32));
  }
  return values;
}

}  // namespace mantissa::bench
