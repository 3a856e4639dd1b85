#include "testbench/arch/sweep_walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "testbench/arch/block_walk_pass.hpp"
#include "testbench/arch/walked_dma.hpp"

namespace mantissa::test {
namespace {

using Kind = PlannedTransfer::Kind;

struct Segment {
  Count elements = 0;  // of all lanes
  Count cycles = 0;    // that the lanes take them in
  Count pause = 0;     // of the units, behind them
  bool results = false;
};

// One after the other, from the largest on: is it one that the law allows?
Count lanes_for_a_channel(Count norm_lanes, const NormStreams& shape) {
  for (Count lanes = shape.parts; lanes > 1; --lanes) {
    if (shape.parts % lanes == 0 && shape.channels * lanes <= norm_lanes &&
        lanes * shape.parts <= shape.elements)
      return lanes;
  }
  return 1;
}

// The additions of parts, one per cycle: how many are left when the last parts end. Parts end at the same
// time, a lane each, and the first of a channel needs none.
Count additions_left(Count lanes, Count parts) {
  Count waiting = 0;
  bool begun = false;
  for (Count ended = 0; ended < parts; ended += lanes) {
    waiting = lanes;  // those of before have been added while these were under way
    if (!begun) --waiting;
    begun = true;
  }
  return waiting;
}

std::vector<int> inputs_of(const NormStreams& shape, NormDirection direction) {
  if (direction == NormDirection::forward) return {shape.x_bits};
  return {shape.x_bits, shape.gradient_bits};
}

// How many elements so many lanes have of each segment.
Count length_of(const Architecture& arch, Count lanes, Count elements, const std::vector<int>& inputs,
                int output) {
  int bits = 0;
  for (const int each : inputs) bits += each;
  const auto fits = [&](Count count) {
    return 2 * bytes_of(count, bits) <= arch.a_buffer_bytes &&
           2 * bytes_of(count, output) <= arch.b_buffer_bytes;
  };
  Count length = lanes;
  if (!fits(length)) throw std::invalid_argument("the lanes' elements do not fit half a buffer");
  while (length < elements && fits(2 * length) &&
         arch.data_cycles(bytes_of(length, bits)) < 2 * arch.dram_latency_cycles)
    length *= 2;
  return length;
}

std::vector<Segment> segments_of(const Architecture& arch, const NormStreams& shape,
                                 NormDirection direction) {
  const std::vector<int> inputs = inputs_of(shape, direction);
  const Count of_channel = lanes_for_a_channel(arch.norm_lanes, shape);
  const Count of_lane = shape.elements / of_channel;
  const Count pause =
      (direction == NormDirection::forward ? 37 : 8) + additions_left(of_channel, shape.parts);
  Count left = shape.channels * of_channel;
  const Count group = std::min<Count>(left, arch.norm_lanes);
  const Count length = length_of(arch, group, group * of_lane, inputs, 0) / group;
  std::vector<Segment> segments;
  for (; left > 0; left -= arch.norm_lanes) {
    const Count lanes = std::min<Count>(left, arch.norm_lanes);
    for (const Range& range : cut({0, of_lane}, length))
      segments.push_back({.elements = lanes * range.size(), .cycles = range.size()});
    segments.back().pause = pause;
  }
  const Count all = shape.channels * shape.elements;
  const Count lanes = arch.norm_lanes;
  for (const Range& range : cut({0, all}, length_of(arch, lanes, all, inputs, shape.result_bits))) {
    segments.push_back(
        {.elements = range.size(), .cycles = (range.size() + lanes - 1) / lanes, .results = true});
  }
  return segments;
}

class SweptNorm {
 public:
  SweptNorm(const Architecture& arch, const NormStreams& shape, NormDirection direction)
      : latency_(direction == NormDirection::forward ? 3 : 5),
        segments_(segments_of(arch, shape, direction)),
        dma_(arch, queue(shape, direction)) {}

  GemmCycles run() {
    while (ended_ < count() || !dma_.finished()) {
      if (begun_ == ended_ && may_begin()) {
        left_ = segments_[begun_].cycles + segments_[begun_].pause;
        ++begun_;
      }
      while (dma_.next() != nullptr && allowed(*dma_.next())) dma_.issue_next();
      name_this_cycle();
      pass_one_cycle();
      if (now_ > 10'000'000) throw std::logic_error("the machine does not stop");
    }
    cost_.steps = segments_.size();
    return cost_;
  }
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  Count count() const { return static_cast<Count>(segments_.size()); }

  std::vector<PlannedTransfer> queue(const NormStreams& shape, NormDirection direction) const {
    std::vector<PlannedTransfer> queue;
    const auto add = [&](Kind kind, Count segment, int bits) {
      const Count bytes = bytes_of(segments_[segment].elements, bits);
      queue.push_back({.kind = kind, .of = segment, .bytes = bytes, .buffer_bytes = bytes});
    };
    for (Count i = 0; i < count() + 2; ++i) {
      if (i < count()) {
        for (const int bits : inputs_of(shape, direction)) add(Kind::load, i, bits);
      }
      if (i >= 2 && segments_[i - 2].results) add(Kind::write_back, i - 2, shape.result_bits);
    }
    return queue;
  }

  bool may_begin() const {
    return begun_ < count() && !dma_.awaits(Kind::load, begun_) && !dma_.awaits(Kind::write_back, begun_ - 2);
  }
  bool allowed(const PlannedTransfer& transfer) const {
    if (transfer.kind == Kind::load) return transfer.of - 2 < ended_;
    return transfer.of < ended_ && now_ >= end_of_.at(transfer.of) + latency_;
  }

  void name_this_cycle() {
    if (begun_ > ended_) {
      ++cost_.compute;
    } else if (ended_ == count() && now_ < end_of_.back() + latency_) {
      ++cost_.stall_drain;
    } else if (dma_.oldest().kind == Kind::write_back) {
      ++cost_.stall_write_back;
    } else {
      ++cost_.stall_load;
    }
  }

  void pass_one_cycle() {
    ++now_;
    if (!dma_.finished()) {
      if (const auto done = dma_.tick()) cost_.dram_bytes += static_cast<std::uint64_t>(done->bytes);
    }
    if (begun_ == ended_ || --left_ > 0) return;
    end_of_.push_back(now_);
    ++ended_;
  }

  Count latency_;
  std::vector<Segment> segments_;
  WalkedDma dma_;
  Count now_ = 0;
  Count begun_ = 0;  // segments
  Count ended_ = 0;
  Count left_ = 0;             // cycles of the segment at work
  std::vector<Count> end_of_;  // segments
  GemmCycles cost_;
};

}  // namespace

GemmCycles walk_swept_norm(const Architecture& arch, const NormStreams& shape, NormDirection direction) {
  SweptNorm machine(arch, shape, direction);
  GemmCycles cost = machine.run();
  std::uint64_t input_bytes = 0;
  const Count elements = shape.channels * shape.elements;
  for (const int bits : inputs_of(shape, direction))
    input_bytes += static_cast<std::uint64_t>(bytes_of(elements, bits));
  cost.tensor_bytes = input_bytes + static_cast<std::uint64_t>(bytes_of(elements, shape.result_bits));
  cost.dram_bytes_unique = cost.tensor_bytes;
  cost.sram_bytes = cost.dram_bytes + cost.tensor_bytes + input_bytes;
  cost.a_taken = static_cast<std::uint64_t>(elements);
  cost.b_staged = direction == NormDirection::backward ? cost.a_taken : 0;
  cost.drained = static_cast<std::uint64_t>(elements);
  for (const Segment& segment : machine.segments()) cost.tiles += segment.pause > 0 ? 1 : 0;
  return cost;
}

}  // namespace mantissa::test
