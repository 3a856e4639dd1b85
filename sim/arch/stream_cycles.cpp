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

  void segment(std::int64_t elements) {
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
    compute_end_ = start + static_cast<std::uint64_t>(ceil_div(elements, job_.lanes));
    cost_.compute += compute_end_ - start;
    segments_[count_ % 2] = {elements, compute_end_};
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
  };

  void write_back(const Segment& segment) {
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

}  // namespace

std::int64_t stream_segment(const Architecture& arch, const StreamJob& job) {
  check(job);
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

GemmCycles stream_cycles(const Architecture& arch, const StreamJob& job) {
  arch.check();
  const std::int64_t length = stream_segment(arch, job);
  if (ceil_div(job.elements, length) > max_gemm_steps) {
    throw std::invalid_argument(
        fmt::format("a stream of {} elements has more than 2^30 segments", job.elements));
  }
  StreamTimeline timeline(arch, job);
  for (std::int64_t first = 0; first < job.elements; first += length)
    timeline.segment(std::min(length, job.elements - first));
  GemmCycles cost = timeline.finish();
  for (const std::vector<int>* tensors : {&job.input_bits, &job.output_bits}) {
    for (const int bits : *tensors)
      cost.tensor_bytes += static_cast<std::uint64_t>(packed_bytes(job.elements, bits));
  }
  cost.drained = static_cast<std::uint64_t>(job.elements);
  cost.sram_bytes = cost.dram_bytes + cost.tensor_bytes;
  return cost;
}

}  // namespace mantissa
