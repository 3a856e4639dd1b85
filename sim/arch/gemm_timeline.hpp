// When the steps of one GEMM compute, load, drain and are written back, and why the array stands still
// (ARITHMETIC.md 7, "DMA", "Order", "Stalls"). Steps are given one by one; only the last two tiles are kept.
#pragma once

#include <array>
#include <cstdint>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/pass_timeline.hpp"

namespace mantissa {

struct GemmStep {
  std::int64_t a_bytes = 0;         // to load; 0: A is there
  std::int64_t b_bytes = 0;         // to load; 0: B is there
  std::int64_t c_bytes_before = 0;  // of the tile before, counts where a tile opens
  std::uint64_t compute = 0;        // cycles
  bool opens_tile = false;
  bool closes_tile = false;
};

class GemmTimeline {
 public:
  // Keeps a reference. `recorder`: is told all, if somebody looks.
  explicit GemmTimeline(const Architecture& arch, TimelineRecorder* recorder = nullptr)
      : arch_(arch), recorder_(recorder) {}

  void step(const GemmStep& step);
  // Drains and writes the last tile; compute, stalls and DRAM bytes go to `cost`.
  void finish(std::int64_t c_bytes, GemmCycles& cost);

  // After finish: the cycle in which the last write-back is done.
  std::uint64_t end() const { return dma_free_; }

 private:
  // A tile's output on its way: accumulators, C buffer, DRAM.
  struct Output {
    std::uint64_t drain_start = 0;
    std::uint64_t drain_done = 0;
    std::uint64_t written = 0;
  };

  void show(Activity activity, std::uint64_t begin, std::uint64_t end) {
    if (recorder_ != nullptr) recorder_->add(activity, begin, end);
  }
  void load(std::int64_t bytes);
  void write_back(Output& output, std::int64_t bytes);
  void transfer(Activity kind, std::int64_t bytes, std::uint64_t not_before);
  // Names the idle cycles from `idle` until the drain is done; returns the first cycle that is left.
  std::uint64_t stall_on_drain(std::uint64_t idle, const Output& output);

  const Architecture& arch_;
  TimelineRecorder* recorder_;
  std::uint64_t dma_free_ = 0;
  std::uint64_t compute_start_ = 0;  // of the last step
  std::uint64_t compute_end_ = 0;
  std::int64_t tile_ = -1;  // the present one
  // Of tile t at t mod 2, so there are always two. What does not exist is 0: nobody waits for it.
  std::array<Output, 2> outputs_ = {};
  GemmCycles cost_;
};

}  // namespace mantissa
