// One operand of a pass in the second machine: the tensor in DRAM, its lines in the buffer, and what each
// step has to load.
#pragma once

#include <cstdint>
#include <span>
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

  // The tensor as it lies in DRAM: as it is, or line by line, packed.
  std::vector<std::uint8_t> image(const EncodedTensor& tensor);
  std::vector<std::uint8_t> packed_image(const EncodedTensor& tensor);
  bool packed() const { return !packed_lines_.empty(); }
  // All of it into DRAM.
  void lay(std::span<const std::uint8_t> image, std::int64_t address, Dma& dma);

  // Steps ascending, each once: the lines that a step will not find in the buffer.
  std::vector<std::int64_t> missing(std::int64_t step);
  // They may come while the step before works.
  bool early(std::int64_t step) { return keep_.early(step); }
  // The step before has computed: what this one does not keep is dropped.
  void make_room(std::int64_t step) {
    if (keep_.changes(step)) buffer_.keep(keep_.kept(step).members());
  }
  void issue_load(const std::vector<std::int64_t>& lines, QueueDma& dma);
  // It has ended: the lines' elements.
  void end_load(const std::vector<std::int64_t>& lines, std::span<const std::uint8_t> elements) {
    buffer_.store(lines, elements);
  }
  std::vector<std::int64_t> line_elements(const std::vector<std::int64_t>& lines) const;

  // Of the elements that were moved, each once; packed as one line.
  std::int64_t moved_bytes() const;
  // By how much all lines that were moved are more in the buffer.
  std::int64_t unpacked_bytes() const { return unpacked_bytes_; }
  const BlockLines& lines() const { return lines_; }
  const LineBuffer& buffer() const { return buffer_; }

 private:
  BlockLines lines_;
  BlockKeep keep_;
  LineBuffer buffer_;
  LineSet expected_;  // in the buffer, once all loads of the steps asked for have ended
  std::int64_t address_ = 0;
  std::vector<bool> moved_;                 // of the tensor's elements
  std::vector<ElementPiece> packed_lines_;  // their bytes; empty: the tensor lies as it is
  std::vector<bool> nonzero_;               // of the elements, where they are packed
  std::int64_t unpacked_bytes_ = 0;
};

}  // namespace mantissa
