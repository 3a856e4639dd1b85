// Which images of an epoch are whose, and whose random numbers are whose (ARITHMETIC.md 9, "Workers").
#pragma once

#include <cstddef>
#include <cstdint>

namespace mantissa::workers {

// Places in an epoch's order.
struct Slice {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// In every step all workers have equally many images; what does not divide is left out of the epoch.
class Shards {
 public:
  // `images` of an epoch, `batch` of a worker's step.
  Shards(std::int64_t images, std::int64_t batch, int workers)
      : each_(images / workers), batch_(batch), workers_(workers) {}

  std::int64_t images() const { return each_ * workers_; }  // that are used
  std::int64_t steps() const { return (each_ + batch_ - 1) / batch_; }
  // Of an epoch's last step, for each worker.
  std::int64_t last_batch() const { return each_ - (steps() - 1) * batch_; }
  Slice slice(std::int64_t step, int worker) const;

 private:
  std::int64_t each_;
  std::int64_t batch_;
  int workers_;
};

// Worker 0 draws what a single worker would draw, and every other its own.
std::uint64_t worker_seed(std::uint64_t run_seed, int worker);
// The first element of a tensor that the threshold's sample sees, modulo its stride.
std::uint64_t sample_start(std::uint64_t worker_seed, std::size_t tensor, std::int64_t step);

}  // namespace mantissa::workers
