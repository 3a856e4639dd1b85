#include "sim/arch/stream_cycles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/sizes.hpp"
#include "sim/arch/transfer_queue.hpp"

namespace mantissa {
namespace {

constexpr std::int64_t max_stream_elements = std::int64_t{1} << 40;

std::int64_t bits_of(const std::vector<int>& tensors) {
  return std::accumulate(tensors.begin(), tensors.end(), std::int64_t{0});
}

void check(const StreamJob& job) {
  if (job.elements < 1 || job.elements > max_stream_elements)
    throw std::invalid_argument(fmt::format("a stream of {} elements; allowed: 1..2^40", job.elements));
  if (job.lanes < 1 || job.latency < 0 || job.input_bits.empty() || job.output_bits.empty())
    throw std::invalid_argument("a stream has a lane, an input and an output at least");
  for (const std::vector<int>* tensors : {&job.input_bits, &job.output_bits}) {
    for (const int bits : *tensors) {
      if (bits < 1 || bits > 32)
        throw std::invalid_argument(fmt::format("elements have 1..32 bits in memory, not {}", bits));
    }
  }
}

bool fits(std::int64_t elements, const std::vector<int>& tensors, std::int64_t buffer_bytes) {
  return elements * bits_of(tensors) <= 8 * (buffer_bytes / 2);
}

class StreamTimeline {
 public:
  StreamTimeline(const Architecture& arch, const StreamJob& job) : job_(job), queue_(arch) {}

  // Elements of all lanes, and for how long they compute.
  void segment(std::int64_t elements, std::uint64_t cycles, bool results) {
    const std::uint64_t allowed = count_ < 2 ? 0 : segments_[count_ % 2].compute_end;
    for (const int bits : job_.input_bits) queue_.transfer(packed_bytes(elements, bits), allowed);
    const std::uint64_t loaded = queue_.end();
    if (count_ >= 2) write_back(segments_[count_ % 2]);
    const std::uint64_t half_free = count_ >= 2 ? queue_.end() : 0;

    const std::uint64_t idle = std::max(compute_end_, count_ == 0 ? job_.ready : 0);
    cost_.stall_drain += idle - compute_end_;
    const std::uint64_t start = std::max({idle, loaded, half_free});
    // What stands before these loads in the queue was written back before the segment before began.
    const std::uint64_t loads_end = std::clamp(loaded, idle, start);
    cost_.stall_load += loads_end - idle;
    cost_.stall_write_back += start - loads_end;
    compute_end_ = start + cycles;
    cost_.compute += cycles;
    segments_[count_ % 2] = {elements, compute_end_, results};
    ++count_;
  }

  GemmCycles finish() {
    const std::uint64_t out = compute_end_ + static_cast<std::uint64_t>(job_.latency);
    cost_.stall_drain += out - compute_end_;
    for (std::uint64_t i = count_ < 2 ? 0 : count_ - 2; i < count_; ++i) write_back(segments_[i % 2]);
    cost_.stall_write_back += queue_.end() - out;
    cost_.steps = count_;
    cost_.dram_bytes = queue_.bytes();
    return cost_;
  }

 private:
  struct Segment {
    std::int64_t elements = 0;
    std::uint64_t compute_end = 0;
    bool results = true;
  };

  void write_back(const Segment& segment) {
    if (!segment.results) return;
    const std::uint64_t out = segment.compute_end + static_cast<std::uint64_t>(job_.latency);
    for (const int bits : job_.output_bits) queue_.transfer(packed_bytes(segment.elements, bits), out);
  }

  const StreamJob& job_;
  TransferQueue queue_;
  std::uint64_t compute_end_ = 0;
  std::uint64_t count_ = 0;
  Segment segments_[2];  // the last two
  GemmCycles cost_;
};

std::int64_t segment_of(const Architecture& arch, const StreamJob& job) {
  const auto all_fit = [&](std::int64_t elements) {
    return fits(elements, job.input_bits, arch.a_buffer_bytes) &&
           fits(elements, job.output_bits, arch.b_buffer_bytes);
  };
  std::int64_t elements = job.lanes;
  if (!all_fit(elements)) {
    const bool input = !fits(elements, job.input_bits, arch.a_buffer_bytes);
    const std::int64_t bits = elements * bits_of(input ? job.input_bits : job.output_bits);
    throw BufferTooSmall(input ? "a_buffer" : "b_buffer", input ? arch.a_buffer_bytes : arch.b_buffer_bytes,
                         2 * ceil_div(bits, 8),
                         fmt::format("half of it must hold the {} bytes of one element in each of {} lanes",
                                     ceil_div(bits, 8), job.lanes));
  }
  const auto long_enough = [&] {
    return arch.data_cycles(packed_bytes(elements, static_cast<int>(bits_of(job.input_bits)))) >=
           2 * arch.dram_latency_cycles;
  };
  while (elements < job.elements && !long_enough() && all_fit(2 * elements)) elements *= 2;
  return elements;
}

// Elements per lane in a segment of a sweep: a stream of a group's elements, without an output.
std::int64_t sweep_segment(const Architecture& arch, const StreamJob& job, const SweepJob& sweep) {
  StreamJob group = job;
  group.output_bits.clear();
  group.lanes = static_cast<int>(std::min<std::int64_t>(job.lanes, sweep.units));
  group.elements = group.lanes * sweep.elements;
  return segment_of(arch, group) / group.lanes;
}

void check_segments(std::int64_t groups, std::int64_t elements, std::int64_t length) {
  if (groups <= max_gemm_steps / ceil_div(elements, length)) return;
  throw std::invalid_argument(
      fmt::format("a stream of {} elements has more than 2^30 segments", groups * elements));
}

// The sweep in front of a stream. Returns its cost besides what the timeline counts.
GemmCycles run_sweep(const Architecture& arch, const StreamJob& job, const SweepJob& sweep,
                     StreamTimeline& timeline) {
  const std::int64_t length = sweep_segment(arch, job, sweep);
  const std::int64_t groups = ceil_div(sweep.units, job.lanes);
  check_segments(groups, sweep.elements, length);
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t lanes = std::min<std::int64_t>(job.lanes, sweep.units - group * job.lanes);
    for (std::int64_t first = 0; first < sweep.elements; first += length) {
      const std::int64_t elements = std::min(length, sweep.elements - first);
      const std::uint64_t pause = first + elements == sweep.elements ? sweep.pause : 0;
      timeline.segment(lanes * elements, static_cast<std::uint64_t>(elements) + pause, false);
    }
  }
  GemmCycles cost;
  const std::int64_t elements = sweep.units * sweep.elements;
  cost.a_taken = static_cast<std::uint64_t>(elements);
  cost.b_staged = job.input_bits.size() > 1 ? cost.a_taken : 0;
  cost.tiles = static_cast<std::uint64_t>(groups);
  for (const int bits : job.input_bits)
    cost.sram_bytes += static_cast<std::uint64_t>(packed_bytes(elements, bits));
  return cost;
}

}  // namespace

std::int64_t stream_segment(const Architecture& arch, const StreamJob& job) {
  check(job);
  return segment_of(arch, job);
}

GemmCycles stream_cycles(const Architecture& arch, const StreamJob& job,
                         const std::optional<SweepJob>& sweep) {
  arch.check();
  const std::int64_t length = stream_segment(arch, job);
  check_segments(1, job.elements, length);
  StreamTimeline timeline(arch, job);
  GemmCycles cost;
  if (sweep) cost = run_sweep(arch, job, *sweep, timeline);
  for (std::int64_t first = 0; first < job.elements; first += length) {
    const std::int64_t elements = std::min(length, job.elements - first);
    timeline.segment(elements, static_cast<std::uint64_t>(ceil_div(elements, job.lanes)), true);
  }
  cost += timeline.finish();
  for (const std::vector<int>* tensors : {&job.input_bits, &job.output_bits}) {
    for (const int bits : *tensors)
      cost.tensor_bytes += static_cast<std::uint64_t>(packed_bytes(job.elements, bits));
  }
  cost.drained = static_cast<std::uint64_t>(job.elements);
  cost.sram_bytes += cost.dram_bytes + cost.tensor_bytes;
  return cost;
}

}  // namespace mantissa
