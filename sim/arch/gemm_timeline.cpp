#include "sim/arch/gemm_timeline.hpp"

#include <algorithm>

namespace mantissa {

// One engine: a transfer starts when the one before it has ended.
void GemmTimeline::transfer(Activity kind, std::int64_t bytes, std::uint64_t not_before) {
  const std::uint64_t begin = std::max(dma_free_, not_before);
  dma_free_ = begin + static_cast<std::uint64_t>(arch_.dram_latency_cycles + arch_.data_cycles(bytes));
  show(kind, begin, dma_free_);
  cost_.dram_bytes += static_cast<std::uint64_t>(bytes);
}

void GemmTimeline::load(std::int64_t bytes) {
  if (bytes > 0) transfer(Activity::load, bytes, compute_start_);
}

void GemmTimeline::write_back(Output& output, std::int64_t bytes) {
  transfer(Activity::write_back, bytes, output.drain_done);
  output.written = dma_free_;
}

// A drain that has not begun waits for its half of C to be written back.
std::uint64_t GemmTimeline::stall_on_drain(std::uint64_t idle, const Output& output) {
  if (idle >= output.drain_done) return idle;
  const std::uint64_t begun = std::max(idle, output.drain_start);
  cost_.stall_write_back += begun - idle;
  cost_.stall_drain += output.drain_done - begun;
  show(Activity::stall_write_back, idle, begun);
  show(Activity::stall_drain, begun, output.drain_done);
  return output.drain_done;
}

void GemmTimeline::step(const GemmStep& step) {
  if (step.opens_tile) ++tile_;
  Output& before = outputs_[(tile_ + 1) % 2];  // of tile_ - 1
  Output& present = outputs_[tile_ % 2];       // of tile_ - 2 until this tile is complete

  const bool loads = step.a_bytes > 0 || step.b_bytes > 0;
  // All that stands in the queue before these loads is written back: earlier loads have been computed with.
  const std::uint64_t queue_done = dma_free_;
  load(step.a_bytes);
  load(step.b_bytes);

  std::uint64_t idle = compute_end_;
  if (step.opens_tile) idle = stall_on_drain(idle, arch_.acc_double_buffer ? present : before);
  const std::uint64_t start = loads ? std::max(idle, dma_free_) : idle;
  const std::uint64_t write_back_done = std::clamp(queue_done, idle, start);
  cost_.stall_write_back += write_back_done - idle;
  cost_.stall_load += start - write_back_done;
  show(Activity::stall_write_back, idle, write_back_done);
  show(Activity::stall_load, write_back_done, start);
  if (recorder_ != nullptr) recorder_->step(start);
  compute_start_ = start;
  compute_end_ = start + step.compute;
  cost_.compute += step.compute;
  show(Activity::compute, start, compute_end_);

  if (step.opens_tile && tile_ > 0) write_back(before, step.c_bytes_before);
  if (step.closes_tile) {
    const std::uint64_t drain = std::max({compute_end_, before.drain_done, present.written});
    present = {.drain_start = drain,
               .drain_done = drain + static_cast<std::uint64_t>(arch_.rows + arch_.pipe_latency)};
    show(Activity::drain, drain, present.drain_done);
  }
}

void GemmTimeline::finish(std::int64_t c_bytes, GemmCycles& cost) {
  Output& last = outputs_[tile_ % 2];
  std::uint64_t idle = stall_on_drain(compute_end_, outputs_[(tile_ + 1) % 2]);
  idle = stall_on_drain(idle, last);
  write_back(last, c_bytes);
  cost_.stall_write_back += dma_free_ - idle;
  show(Activity::stall_write_back, idle, dma_free_);
  cost.compute = cost_.compute;
  cost.stall_load = cost_.stall_load;
  cost.stall_write_back = cost_.stall_write_back;
  cost.stall_drain = cost_.stall_drain;
  cost.dram_bytes = cost_.dram_bytes;
}

}  // namespace mantissa
