// The memory side of a stream: tensors in DRAM, the queue of transfers, the buffers (ARITHMETIC.md 7,
// "Streams").
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/arch/stream_cycles.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/queue_dma.hpp"
#include "sim/machine/sram_buffer.hpp"

namespace mantissa {

struct StreamParts {
  const Architecture& arch;
  QueueDma& dma;
  Dram& dram;
};

// Elements of input tensors, packed.
using StreamInputs = std::vector<std::vector<std::uint8_t>>;

// Keeps references.
class StreamMemory {
 public:
  // Lays the inputs into DRAM. Throws what stream_segment throws.
  StreamMemory(const StreamParts& parts, const StreamJob& job, const StreamInputs& inputs);

  std::int64_t segments() const { return segments_; }
  std::int64_t first(std::int64_t segment) const { return segment * length_; }
  std::int64_t size(std::int64_t segment) const;

  // One element per tensor, of a segment that is loaded.
  void get(std::int64_t segment, std::int64_t element, std::span<std::uint32_t> inputs) const;
  void put(std::int64_t segment, std::int64_t element, std::span<const std::uint32_t> outputs);

  bool loaded(std::int64_t segment) const {
    return loads_ended_ >= (segment + 1) * std::ssize(job_.input_bits);
  }
  // The segment before it in its half of the output buffer has been written back.
  bool half_free(std::int64_t segment) const {
    return write_backs_ended_ >= (segment - 1) * std::ssize(job_.output_bits);
  }
  // The oldest unfinished transfer is a write-back.
  bool writes_back() const;
  bool finished() const { return write_backs_ended_ == segments_ * std::ssize(job_.output_bits); }
  // A cycle passes. Before it so many segments had computed, and the results of so many were out.
  struct Progress {
    std::int64_t computed = 0;
    std::int64_t out = 0;
  };
  void clock(const Progress& progress);

  std::uint64_t bytes_moved() const { return parts_.dma.bytes_moved(); }
  std::vector<std::vector<std::uint32_t>> outputs() const;  // tensor by tensor

 private:
  struct Transfer {
    bool load = true;
    std::int64_t segment = 0;
    std::size_t tensor = 0;
  };
  // A tensor in DRAM, and the two halves of its part of the buffer.
  struct Tensor {
    int bits = 8;
    std::int64_t address = 0;
    SramBuffer buffer = {};
  };
  void add_tensors(const std::vector<int>& widths, std::vector<Tensor>& tensors);
  // The queue is made as it goes: of each segment its loads, then the write-backs behind them.
  void extend_queue();
  bool allowed(const Transfer& transfer, const Progress& progress) const;
  void issue(const Transfer& transfer);
  void end(const Transfer& transfer);
  std::int64_t half(std::int64_t segment, const Tensor& tensor) const;

  StreamParts parts_;
  const StreamJob& job_;
  std::int64_t length_;  // elements of a segment
  std::int64_t segments_;
  std::int64_t dram_bytes_ = 0;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;

  std::int64_t queued_ = 0;     // segments whose loads are in the queue, or have been
  std::deque<Transfer> queue_;  // not yet issued
  std::deque<Transfer> flying_;
  std::int64_t loads_ended_ = 0;
  std::int64_t write_backs_ended_ = 0;
};

}  // namespace mantissa
