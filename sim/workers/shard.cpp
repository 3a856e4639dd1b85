#include "sim/workers/shard.hpp"

#include <algorithm>

#include "models/random/stream.hpp"

namespace mantissa::workers {

Slice Shards::slice(std::int64_t step, int worker) const {
  const std::int64_t count = std::min(batch_, each_ - step * batch_);
  return {.first = step * batch_ * workers_ + worker * count, .count = count};
}

std::uint64_t worker_seed(std::uint64_t run_seed, int worker) {
  if (worker == 0) return run_seed;
  return mix(mix(run_seed) ^ (std::uint64_t{0x574B} << 32 | static_cast<std::uint64_t>(worker)));
}

std::uint64_t sample_start(std::uint64_t worker_seed, std::size_t tensor, std::int64_t step) {
  return mix(mix(mix(worker_seed) ^ (std::uint64_t{0x5453} << 32 | tensor)) ^
             static_cast<std::uint64_t>(step));
}

}  // namespace mantissa::workers
