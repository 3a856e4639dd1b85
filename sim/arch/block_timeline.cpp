#include "sim/arch/block_timeline.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace mantissa {

BlockTimeline::BlockTimeline(const Architecture& arch, bool two, std::int64_t drain_cycles,
                             std::int64_t blocks, TimelineRecorder* recorder)
    : arch_(arch), two_(two), drain_cycles_(drain_cycles), queue_(arch), recorder_(recorder) {
  blocks_.reserve(static_cast<std::size_t>(blocks));
}

void BlockTimeline::transfer(Activity kind, std::int64_t bytes, std::uint64_t allowed) {
  const Interval data = queue_.transfer(bytes, allowed);
  show(kind, data.begin, data.end);
}

void BlockTimeline::load(const Load& load) {
  if (load.bytes == 0) return;
  const std::uint64_t allowed = load.early ? step_start_ : compute_end_;
  transfer(Activity::load, load.bytes, steps_ == 1 ? 0 : allowed);
  loaded_ = queue_.end();
}

void BlockTimeline::write_back() {
  Block& block = blocks_[written_++];
  const std::uint64_t begin = queue_.end();
  transfer(Activity::write_back, block.bytes, block.drained);
  block.written = queue_.end();
  write_backs_.push_back({begin, queue_.end()});
}

void BlockTimeline::name_idle(Activity reason, std::uint64_t& idle, std::uint64_t until) {
  show(reason, idle, until);
  const std::uint64_t cycles = until - std::exchange(idle, until);
  switch (reason) {
    case Activity::stall_load:
      cost_.stall_load += cycles;
      return;
    case Activity::stall_write_back:
      cost_.stall_write_back += cycles;
      return;
    case Activity::stall_drain:
      cost_.stall_drain += cycles;
      return;
    case Activity::compute:
    case Activity::load:
    case Activity::write_back:
    case Activity::drain:
      break;
  }
  throw std::logic_error("the array does not stand still for this");
}

void BlockTimeline::name_idle_until_step(std::uint64_t start, std::uint64_t room) {
  std::uint64_t idle = compute_end_;
  name_idle(Activity::stall_drain, idle, next_start_);
  if (room > idle) {
    const std::uint64_t drained = std::clamp(blocks_[block_ - (two_ ? 2 : 1)].drained, idle, room);
    name_idle(Activity::stall_drain, idle, drained);
    name_idle(Activity::stall_write_back, idle, room);
  }
  for (const Interval& each : write_backs_) {  // in order, and none at the same time as another
    const std::uint64_t begin = std::max(each.begin, idle);
    const std::uint64_t end = std::min(each.end, start);
    if (end <= begin) continue;
    name_idle(Activity::stall_load, idle, begin);
    name_idle(Activity::stall_write_back, idle, end);
  }
  std::erase_if(write_backs_, [&](const Interval& each) { return each.end <= start; });
  name_idle(Activity::stall_load, idle, start);
}

void BlockTimeline::step(const Step& step) {
  ++steps_;
  if (step.opens_block) {
    ++block_;
    steps_in_block_ = 0;
    sums_in_c_ = 0;
  }
  ++steps_in_block_;
  load(step.a);
  load(step.b);
  // Behind these loads: with one block in C the write-back that this block waits for, with two the one that
  // the next block will wait for, once this block has begun.
  if (two_) {
    const bool second = steps_in_block_ == 2;
    const bool follows_short_block = steps_in_block_ == 1 && written_ < block_ - 1;
    if ((second && block_ >= 1) || follows_short_block) write_back();
  } else if (step.opens_block && block_ >= 1) {
    write_back();
  }
  std::uint64_t room = 0;
  const std::int64_t in_the_way = block_ - (two_ ? 2 : 1);
  if (step.opens_block && in_the_way >= 0) room = blocks_[in_the_way].written;

  step_start_ = std::max({next_start_, loaded_, room});
  name_idle_until_step(step_start_, room);
  if (recorder_ != nullptr) recorder_->step(step_start_);
  compute_end_ = next_start_ = step_start_;
  if (!step.opens_block) return;
  sums_in_c_ = step_start_;
  x_here_ = 0;
  if (step.x_bytes == 0) return;
  transfer(Activity::load, step.x_bytes, step_start_);
  x_here_ = queue_.end();
}

void BlockTimeline::tile(std::uint64_t compute, bool exchange) {
  name_idle(Activity::stall_drain, compute_end_, next_start_);
  compute_end_ = next_start_ + compute;
  show(Activity::compute, next_start_, compute_end_);
  cost_.compute += compute;
  next_start_ = compute_end_;
  if (!exchange) return;
  next_start_ = std::max(compute_end_, exchange_done_);
  const auto rows = static_cast<std::uint64_t>(arch_.sum_cycles());
  exchange_done_ = next_start_ + rows + 1;
  sums_in_c_ = next_start_ + rows + 2;
}

void BlockTimeline::close_block(std::int64_t tiles, std::int64_t bytes) {
  const std::uint64_t before = blocks_.empty() ? 0 : blocks_.back().drained;
  const std::uint64_t start = std::max({sums_in_c_, x_here_, before});
  const auto cycles = static_cast<std::uint64_t>(tiles * drain_cycles_ + arch_.pipe_latency);
  blocks_.push_back({.drained = start + cycles, .written = 0, .bytes = bytes});
  show(Activity::drain, start, start + cycles);
}

void BlockTimeline::finish(GemmCycles& cost) {
  std::uint64_t idle = compute_end_;
  name_idle(Activity::stall_drain, idle, std::max(idle, blocks_.back().drained));
  while (written_ < static_cast<std::int64_t>(blocks_.size())) write_back();
  name_idle(Activity::stall_write_back, idle, queue_.end());
  cost.compute = cost_.compute;
  cost.stall_load = cost_.stall_load;
  cost.stall_write_back = cost_.stall_write_back;
  cost.stall_drain = cost_.stall_drain;
  cost.dram_bytes = queue_.bytes();
}

}  // namespace mantissa
