// One operand of a pass in the second machine: the tensor in DRAM, its lines in the buffer, and what each
// step has to load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/machine/block_keep.hpp"
#include "sim/machine/block_line_buffer.hpp"
#include "sim/machine/queue_dma.hpp"

namespace mantissa {

// Keeps references.
class BlockOperandMemory {
 public:
  // Throws what BlockKeep throws.
  BlockOperandMemory(const BlockPlan& plan, GemmSide side, std::int64_t buffer_bytes, const std::string& key);
  BlockOperandMemory(const BlockOperandMemory&) = delete;  // its parts refer to each other
  BlockOperandMemory& operator=(const BlockOperandMemory&) = delete;

  // The whole tensor into DRAM, as it is.
  void lay(const EncodedTensor& tensor, std::int64_t address, Dma& dma);

  // Steps ascending, each once: the lines that a step will not find in the buffer.
  std::vector<std::int64_t> missing(std::int64_t step);
  // They may come while the step before works.
  bool early(std::int64_t step) { return keep_.early(step); }
  // The step before has computed: what this one does not keep is dropped.
  void make_room(std::int64_t step) {
    if (keep_.changes(step)) buffer_.keep(keep_.kept(step).members());
  }
  void issue_load(const std::vector<std::int64_t>& lines, QueueDma& dma);
  void end_load(const std::vector<std::int64_t>& lines, const QueueDma& dma) {
    buffer_.store(lines, dma.data());
  }

  // Of the elements that were moved, each once.
  std::int64_t moved_bytes() const;
  const BlockLines& lines() const { return lines_; }
  const LineBuffer& buffer() const { return buffer_; }

 private:
  BlockLines lines_;
  BlockKeep keep_;
  LineBuffer buffer_;
  LineSet expected_;  // in the buffer, once all loads of the steps asked for have ended
  std::int64_t address_ = 0;
  std::vector<bool> moved_;  // of the tensor's elements
};

}  // namespace mantissa
