// The memory side of a pass of batch norm: blocks in DRAM, the DMA's queue, the buffers (ARITHMETIC.md 8, "On
// the accelerator").
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/dma.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/norm_job.hpp"
#include "sim/machine/norm_plan.hpp"
#include "sim/machine/sram_buffer.hpp"

namespace mantissa {

struct NormMemoryParts {
  const Architecture& arch;
  Dma& dma;
  Dram& dram;
  SramBuffer& a;
  SramBuffer& b;
  SramBuffer& results;
};

// Keeps references. In a block the elements that the lanes take in one cycle lie side by side.
class NormMemory {
 public:
  // Lays x and g into DRAM.
  NormMemory(const NormMemoryParts& parts, const NormJob& job, const NormPlan& plan);

  // Of a step that is loaded.
  std::uint32_t x(std::int64_t step, std::int64_t at) const;
  std::uint32_t g(std::int64_t step, std::int64_t at) const;
  void put_result(std::int64_t block, std::int64_t at, std::uint32_t code);

  bool loaded(std::int64_t step) const;
  // Its half of the result buffer has been written back.
  bool half_free(const NormStep& step) const { return !step.second || written_ >= step.block - 1; }
  // The oldest unfinished transfer is a write-back.
  bool writes_back() const { return transfer_ == Transfer::write_back; }
  bool finished() const { return written_ == plan_.blocks(); }
  // A cycle passes, in which so many steps have begun to compute, and so many had ended before it.
  void clock(std::int64_t begun, std::int64_t ended);

  std::uint64_t bytes_moved() const { return parts_.dma.bytes_moved(); }
  std::vector<std::uint32_t> results() const;  // as NormRun has them

 private:
  // The queue is a place in the list of ARITHMETIC.md 8: of step i its loads, then perhaps the write-back of
  // the step before. After the last step comes the last write-back.
  enum class Transfer : std::uint8_t { load_x, load_g, write_back };

  void fill(const EncodedTensor& tensor, bool gradient);
  bool exists() const;
  void next();
  void start();
  void end();
  BufferPlace a_half(std::int64_t step) const { return {step % 2 * (parts_.arch.a_buffer_bytes / 2), 0}; }
  BufferPlace b_half(std::int64_t step) const { return {step % 2 * (parts_.arch.b_buffer_bytes / 2), 0}; }
  BufferPlace result_half(std::int64_t block) const { return {block % 2 * plan_.result_half_bytes(), 0}; }

  NormMemoryParts parts_;
  const NormJob& job_;
  const NormPlan& plan_;
  NormStreams streams_;
  std::int64_t index_ = 0;  // step of the transfer
  NormStep step_;
  Transfer transfer_ = Transfer::load_x;
  std::int64_t written_ = 0;  // blocks of results, in DRAM
};

}  // namespace mantissa
