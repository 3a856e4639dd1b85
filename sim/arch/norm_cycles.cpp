#include "sim/arch/norm_cycles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

// Keeps the cycles of five streams of 32 bits within 64 bits.
constexpr std::int64_t max_elements = std::int64_t{1} << 40;

void check(const Architecture& arch, const NormStreams& shape) {
  arch.check();
  if (shape.channels < 1 || shape.channels > max_gemm_size || shape.elements < 2 ||
      shape.elements > max_gemm_size || shape.channels > max_elements / shape.elements) {
    throw std::invalid_argument("batch norm of " + std::to_string(shape.channels) + " channels of " +
                                std::to_string(shape.elements) +
                                " elements: there is at least one, of at least 2, and at most 2^40 in all");
  }
  if (shape.parts < 1 || shape.elements % shape.parts != 0 || shape.elements / shape.parts < 2)
    throw std::logic_error("parts of a channel are equal, and of two elements at least");
  for (const int bits : {shape.x_bits, shape.result_bits, shape.gradient_bits}) {
    if (bits < 1 || bits > 32) {
      throw std::invalid_argument("elements have 1..32 bits in memory, not " + std::to_string(bits));
    }
  }
}

std::uint64_t stream_bytes(std::int64_t elements, int bits) {
  return (static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bits) + 7) / 8;
}

// Elements per lane that fit half a buffer.
std::int64_t fitting(const Architecture& arch, const char* buffer, std::int64_t buffer_bytes, int bits) {
  const std::int64_t length = 8 * (buffer_bytes / 2) / (std::int64_t{arch.norm_lanes} * bits);
  if (length == 0) {
    throw BufferTooSmall(buffer, buffer_bytes, 2 * packed_bytes(arch.norm_lanes, bits),
                         fmt::format("half of it must hold an element of {} bits for each of {} norm_lanes",
                                     bits, arch.norm_lanes));
  }
  return length;
}

struct Step {
  std::uint64_t x_bytes = 0;
  std::uint64_t g_bytes = 0;       // 0: there is no g
  std::uint64_t result_bytes = 0;  // 0: the step has no results
  std::uint64_t compute = 0;
};

// When steps load, compute and are written back, one by one. That a half of the result buffer is free needs
// no look: its write-back stands before the loads of the step that wants it.
class Timeline {
 public:
  explicit Timeline(const Architecture& arch) : arch_(arch) {}

  void step(const Step& step) {
    const std::uint64_t written = written_;  // by what stands before this step's loads
    transfer(step.x_bytes, compute_start_);
    transfer(step.g_bytes, compute_start_);
    const std::uint64_t loaded = dma_free_;
    write_back();
    const std::uint64_t idle = compute_end_;
    compute_start_ = std::max(idle, loaded);
    const std::uint64_t waits_for_write = std::clamp(written, idle, compute_start_);
    cost_.stall_write_back += waits_for_write - idle;
    cost_.stall_load += compute_start_ - waits_for_write;
    compute_end_ = compute_start_ + step.compute;
    cost_.compute += step.compute;
    result_bytes_ = step.result_bytes;
  }

  GemmCycles finish() {
    write_back();
    cost_.stall_write_back += std::max(written_, compute_end_) - compute_end_;
    return cost_;
  }

 private:
  void transfer(std::uint64_t size, std::uint64_t not_before) {
    if (size == 0) return;
    dma_free_ = std::max(dma_free_, not_before) +
                static_cast<std::uint64_t>(arch_.dram_latency_cycles +
                                           arch_.data_cycles(static_cast<std::int64_t>(size)));
    cost_.dram_bytes += size;
  }
  // Of the step before.
  void write_back() {
    if (result_bytes_ == 0) return;
    transfer(result_bytes_, compute_end_);
    written_ = dma_free_;
  }

  const Architecture& arch_;
  std::uint64_t dma_free_ = 0;
  std::uint64_t compute_start_ = 0;  // of the last step
  std::uint64_t compute_end_ = 0;
  std::uint64_t result_bytes_ = 0;
  std::uint64_t written_ = 0;  // end of the last write-back
  GemmCycles cost_;
};

// After the last element of a channel: its last parts are added, and the unit does what follows from the
// sums.
std::uint64_t pause_of(const NormStreams& shape, std::int64_t lanes, NormDirection direction) {
  const auto additions = static_cast<std::uint64_t>(lanes == shape.parts ? lanes - 1 : lanes);
  if (direction == NormDirection::backward) return range_bn_backward_time.pause + additions;
  return range_bn_forward_time.pause + range_bn_forward_time.latency + additions;
}

// One sweep or pass over a group.
class Walk {
 public:
  Walk(const Architecture& arch, const NormStreams& shape, NormDirection direction)
      : shape_(shape),
        elements_(shape.elements / lanes_of_channel(arch, shape)),
        backward_(direction == NormDirection::backward),
        pause_(pause_of(shape, lanes_of_channel(arch, shape), direction)),
        latency_((backward_ ? range_bn_backward_time : range_bn_forward_time).latency),
        length_(norm_step_length(arch, shape, direction)),
        timeline_(arch) {}

  std::uint64_t steps() const { return steps_; }

  void group(std::int64_t lanes, bool second) {
    for (std::int64_t first = 0; first < elements_; first += length_) {
      const std::int64_t length = std::min(length_, elements_ - first);
      Step step{.x_bytes = stream_bytes(lanes * length, shape_.x_bits),
                .compute = static_cast<std::uint64_t>(length)};
      if (backward_) step.g_bytes = stream_bytes(lanes * length, shape_.gradient_bits);
      if (second) {
        step.result_bytes = stream_bytes(lanes * length, shape_.result_bits);
        step.compute += latency_;
      } else if (first + length == elements_) {
        step.compute += pause_;
      }
      timeline_.step(step);
      ++steps_;
    }
  }
  GemmCycles finish() { return timeline_.finish(); }

 private:
  const NormStreams& shape_;
  std::int64_t elements_;  // of a lane
  bool backward_;
  std::uint64_t pause_;
  std::uint64_t latency_;
  std::int64_t length_;
  Timeline timeline_;
  std::uint64_t steps_ = 0;
};

void check_steps(const NormStreams& shape, std::int64_t groups, std::int64_t segments) {
  if (groups <= max_gemm_steps / (2 * segments)) return;
  throw std::invalid_argument("batch norm of " + std::to_string(shape.channels) + " channels of " +
                              std::to_string(shape.elements) + " elements has more than 2^30 steps");
}

}  // namespace

std::int64_t lanes_of_channel(const Architecture& arch, const NormStreams& shape) {
  check(arch, shape);
  std::int64_t lanes =
      std::min({shape.parts, arch.norm_lanes / shape.channels, shape.elements / shape.parts});
  while (lanes > 1 && shape.parts % lanes != 0) --lanes;
  return std::max<std::int64_t>(lanes, 1);
}

std::int64_t norm_step_length(const Architecture& arch, const NormStreams& shape, NormDirection direction) {
  check(arch, shape);
  std::int64_t length = std::min(shape.elements / lanes_of_channel(arch, shape),
                                 fitting(arch, "a_buffer", arch.a_buffer_bytes, shape.x_bits));
  if (direction == NormDirection::backward)
    length = std::min(length, fitting(arch, "b_buffer", arch.b_buffer_bytes, shape.gradient_bits));
  return length;
}

StreamJob fused_norm_job(const Architecture& arch, const NormStreams& shape, NormDirection direction) {
  check(arch, shape);
  const bool backward = direction == NormDirection::backward;
  const NormUnitTime& time = backward ? range_bn_backward_time : range_bn_forward_time;
  StreamJob job{.elements = shape.channels * shape.elements,
                .input_bits = {shape.x_bits},
                .output_bits = {shape.result_bits},
                .lanes = arch.norm_lanes,
                .latency = static_cast<int>(time.latency),
                .ready = pause_of(shape, 1, direction)};
  if (backward) job.input_bits.push_back(shape.gradient_bits);
  return job;
}

// Both sweeps or passes of all groups.
GemmCycles norm_cycles(const Architecture& arch, const NormStreams& shape, NormDirection direction) {
  Walk walk(arch, shape, direction);
  const bool backward = direction == NormDirection::backward;
  const std::int64_t lanes = arch.norm_lanes;
  const std::int64_t per_channel = lanes_of_channel(arch, shape);
  const std::int64_t units = shape.channels * per_channel;
  const std::int64_t groups = ceil_div(units, lanes);
  check_steps(shape, groups,
              ceil_div(shape.elements / per_channel, norm_step_length(arch, shape, direction)));
  const auto run_group = [&](std::int64_t group, bool second) {
    walk.group(std::min(lanes, units - group * lanes), second);
  };
  for (std::int64_t group = 0; group < groups; ++group) {
    run_group(group, false);
    if (backward) run_group(group, true);
  }
  if (!backward) {
    for (std::int64_t group = 0; group < groups; ++group) run_group(group, true);
  }
  GemmCycles cost = walk.finish();

  const std::int64_t elements = shape.channels * shape.elements;
  const std::uint64_t result_bytes = stream_bytes(elements, shape.result_bits);
  cost.a_taken = static_cast<std::uint64_t>(2 * elements);
  cost.drained = static_cast<std::uint64_t>(elements);
  cost.dram_bytes_unique = stream_bytes(elements, shape.x_bits) + result_bytes;
  cost.sram_bytes = cost.dram_bytes + stream_bytes(2 * elements, shape.x_bits) + result_bytes;
  if (backward) {
    cost.b_staged = static_cast<std::uint64_t>(2 * elements);
    cost.dram_bytes_unique += stream_bytes(elements, shape.gradient_bits);
    cost.sram_bytes += stream_bytes(2 * elements, shape.gradient_bits);
  }
  cost.tiles = static_cast<std::uint64_t>(groups);
  cost.steps = walk.steps();
  return cost;
}

GemmCycles fused_norm_cycles(const Architecture& arch, const NormStreams& shape, NormDirection direction,
                             bool statistics_taken) {
  StreamJob job = fused_norm_job(arch, shape, direction);
  std::optional<SweepJob> sweep;
  if (!statistics_taken) {
    job.ready = 0;
    const std::int64_t lanes = lanes_of_channel(arch, shape);
    sweep = SweepJob{.units = shape.channels * lanes,
                     .elements = shape.elements / lanes,
                     .pause = pause_of(shape, lanes, direction)};
  }
  GemmCycles cost = stream_cycles(arch, job, sweep);
  cost.dram_bytes_unique = cost.tensor_bytes;
  return cost;
}

}  // namespace mantissa
