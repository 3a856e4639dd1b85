#include "testbench/arch/stream_walk.hpp"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <vector>

#include "testbench/arch/block_walk_pass.hpp"
#include "testbench/arch/walked_dma.hpp"

namespace mantissa::test {
namespace {

using Kind = PlannedTransfer::Kind;

void check_job(const StreamJob& job) {
  const auto is_width = [](int bits) { return bits >= 1; };
  if (job.elements < 1) throw std::invalid_argument("a stream without elements");
  if (job.lanes < 1) throw std::invalid_argument("a stream without lanes");
  if (job.latency < 0) throw std::invalid_argument("results before their elements");
  if (job.input_bits.empty() || job.output_bits.empty())
    throw std::invalid_argument("a stream without an input or without an output");
  if (!std::all_of(job.input_bits.begin(), job.input_bits.end(), is_width) ||
      !std::all_of(job.output_bits.begin(), job.output_bits.end(), is_width))
    throw std::invalid_argument("elements without bits");
}

// Some elements of all these tensors, packed together.
Count together(Count elements, const std::vector<int>& tensors) {
  int bits = 0;
  for (const int each : tensors) bits += each;
  return bytes_of(elements, bits);
}

bool fit(const Architecture& arch, const StreamJob& job, Count elements) {
  return 2 * together(elements, job.input_bits) <= arch.a_buffer_bytes &&
         2 * together(elements, job.output_bits) <= arch.b_buffer_bytes;
}

class StreamMachine {
 public:
  StreamMachine(const Architecture& arch, const StreamJob& job)
      : job_(job),
        segments_(segments(arch, job)),
        dma_(arch, queue(job, segments_)),
        out_(segments_.size()) {}

  GemmCycles run() {
    while (!dma_.finished()) {
      if (now_ > 50'000'000) throw std::logic_error("the machine does not stop");
      if (segment_starts()) left_ = segments_[started_++].size();
      while (dma_.next() != nullptr && allowed(*dma_.next())) dma_.issue_next();
      name_this_cycle();
      pass_one_cycle();
      ++now_;
    }
    if (!all_is_out() || cost_.cycles() != now_)
      throw std::logic_error("the last write-back was not the end");
    cost_.steps = segments_.size();
    return cost_;
  }

 private:
  static std::vector<Range> segments(const Architecture& arch, const StreamJob& job) {
    return cut({0, job.elements}, walked_segment(arch, job));
  }
  static std::vector<PlannedTransfer> queue(const StreamJob& job, const std::vector<Range>& segments) {
    std::vector<PlannedTransfer> queue;
    const auto count = static_cast<Count>(segments.size());
    const auto add = [&](Kind kind, Count segment, const std::vector<int>& tensors) {
      if (segment < 0 || segment >= count) return;
      for (const int bits : tensors) {
        const Count bytes = bytes_of(segments[segment].size(), bits);
        queue.push_back({.kind = kind, .of = segment, .bytes = bytes, .buffer_bytes = bytes});
      }
    };
    for (Count segment = 0; segment < count + 2; ++segment) {
      add(Kind::load, segment, job.input_bits);
      add(Kind::write_back, segment - 2, job.output_bits);
    }
    return queue;
  }

  Count segment_count() const { return static_cast<Count>(segments_.size()); }
  bool is_out(Count segment) const { return out_[segment] == segments_[segment].size(); }
  bool all_is_out() const { return is_out(segment_count() - 1); }

  bool segment_starts() const {
    if (left_ > 0 || started_ == segment_count() || now_ < job_.ready) return false;
    return !dma_.awaits(Kind::load, started_) && !dma_.awaits(Kind::write_back, started_ - 2);
  }
  bool allowed(const PlannedTransfer& transfer) const {
    if (transfer.kind == Kind::write_back) return is_out(transfer.of);
    return transfer.of - 2 < computed_;
  }

  void name_this_cycle() {
    if (left_ > 0) {
      ++cost_.compute;
    } else if (now_ < job_.ready || (computed_ == segment_count() && !all_is_out())) {
      ++cost_.stall_drain;
    } else if (dma_.oldest().kind == Kind::write_back) {
      ++cost_.stall_write_back;
    } else {
      ++cost_.stall_load;
    }
  }

  void pass_one_cycle() {
    if (const auto ended = dma_.tick()) cost_.dram_bytes += static_cast<std::uint64_t>(ended->bytes);
    // Of which segment, and how many: what the lanes take, on its way through their registers.
    const Count taken = std::min<Count>(left_, job_.lanes);
    lanes_.push_back({started_ - 1, taken});
    left_ -= taken;
    if (taken > 0 && left_ == 0) ++computed_;
    if (static_cast<Count>(lanes_.size()) <= job_.latency) return;
    if (lanes_.front().elements > 0) out_[lanes_.front().segment] += lanes_.front().elements;
    cost_.drained += static_cast<std::uint64_t>(lanes_.front().elements);
    lanes_.pop_front();
  }

  struct Stage {
    Count segment;
    Count elements;
  };

  const StreamJob& job_;
  const std::vector<Range> segments_;
  WalkedDma dma_;
  std::uint64_t now_ = 0;
  Count started_ = 0;  // segments
  Count computed_ = 0;
  Count left_ = 0;           // elements of the segment at work
  std::deque<Stage> lanes_;  // registers that results pass, the last one first
  std::vector<Count> out_;   // results of each segment
  GemmCycles cost_;
};

}  // namespace

std::int64_t walked_segment(const Architecture& arch, const StreamJob& job) {
  check_job(job);
  Count segment = job.lanes;
  if (!fit(arch, job, segment)) throw std::invalid_argument("the lanes' elements do not fit half a buffer");
  while (segment < job.elements && fit(arch, job, 2 * segment) &&
         arch.data_cycles(together(segment, job.input_bits)) < 2 * arch.dram_latency_cycles)
    segment *= 2;
  return segment;
}

GemmCycles walk_stream(const Architecture& arch, const StreamJob& job) {
  GemmCycles cost = StreamMachine(arch, job).run();
  for (const std::vector<int>* tensors : {&job.input_bits, &job.output_bits}) {
    for (const int bits : *tensors)
      cost.tensor_bytes += static_cast<std::uint64_t>(bytes_of(job.elements, bits));
  }
  cost.sram_bytes = cost.dram_bytes + cost.tensor_bytes;
  if (cost.dram_bytes < cost.tensor_bytes) throw std::logic_error("less was moved than has to be");
  return cost;
}

}  // namespace mantissa::test
