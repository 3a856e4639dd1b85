// The memory side of a pass on the second machine: tensors in DRAM, the queue of transfers, the buffers
// (ARITHMETIC.md 7, "Blocks", "What stays", "DMA").
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/machine/block_operand_memory.hpp"
#include "sim/machine/block_parts.hpp"
#include "sim/machine/block_sum_buffer.hpp"
#include "sim/machine/block_x_memory.hpp"

namespace mantissa {

// Keeps references.
class BlockMemory {
 public:
  // Lays the tensors into DRAM. Throws std::invalid_argument where a step does not fit the buffers.
  BlockMemory(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan);

  const BlockOperandMemory& a() const { return a_; }
  const BlockOperandMemory& b() const { return b_; }
  BlockSumBuffer& c() { return c_; }
  const BlockSumBuffer& c() const { return c_; }

  // What the drain needs of a batch norm.
  BlockXMemory& x() { return x_; }
  const BlockXMemory& x() const { return x_; }

  bool loaded(std::int64_t step) const;
  // The oldest unfinished transfer is a write-back.
  bool writes_back() const;
  bool finished() const { return written_ == plan_.blocks(); }
  // A cycle passes, in which so many steps have begun, and before which so many had computed and so many
  // blocks had drained.
  struct Progress {
    std::int64_t begun = 0;
    std::int64_t computed = 0;
    std::int64_t drained = 0;
  };
  void clock(const Progress& progress);
  // A cycle begins: lines whose transfer has ended with the one before, and that the unpacker has made codes
  // of, go into the buffer.
  void take_unpacked();

  std::uint64_t bytes_moved() const { return parts_.dma.bytes_moved(); }
  // The same as the buffers see it: of packed lines all codes.
  std::uint64_t buffer_bytes() const {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(bytes_moved()) + a_.unpacked_bytes());
  }
  // Of the elements of both tensors that were moved, each once, and of the outputs.
  std::uint64_t tensor_bytes() const;
  std::vector<std::uint32_t> results() const;  // [rows, columns] of the job

 private:
  enum class Kind : std::uint8_t { load_a, load_b, load_x, write_back };
  struct Transfer {
    Kind kind = Kind::load_a;
    std::int64_t index = 0;  // step of a load, block of a write-back
    bool early = false;
    std::vector<std::int64_t> lines = {};
  };

  // The queue is made as it goes, up to the next load: of each step its loads, then the write-backs that
  // stand behind them.
  void extend_queue();
  bool queue_load(Kind kind);
  std::int64_t write_backs_behind(std::int64_t step) const;
  bool allowed(const Transfer& transfer, const Progress& progress) const;
  void issue(const Transfer& transfer);
  void issue_write_back(std::int64_t block);
  void end(const Transfer& transfer);
  void unpack(bool ended);

  BlockParts parts_;
  const BlockPlan& plan_;
  BlockOperandMemory a_;
  BlockOperandMemory b_;
  BlockSumBuffer c_;
  BlockXMemory x_;
  std::int64_t c_address_ = 0;

  std::int64_t queued_steps_ = 0;  // whose transfers are in the queue, or have been
  bool b_is_next_ = false;         // of the step behind them, A is, too
  std::int64_t queued_blocks_ = 0;
  std::deque<Transfer> queue_;  // not yet issued
  std::deque<Transfer> flying_;
  bool unpacks_ = false;                // the oldest of them
  std::vector<std::int64_t> unpacked_;  // lines that are codes with the end of this cycle
  std::int64_t room_made_ = 0;          // steps for which it was
  std::int64_t written_ = 0;            // blocks
};

}  // namespace mantissa
