// The memory side of a GEMM: blocks in DRAM, the DMA's queue, the buffers (ARITHMETIC.md 7, "DMA", "Steps").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/gemm_plan.hpp"
#include "sim/machine/machine_parts.hpp"

namespace mantissa {

// Keeps references.
class GemmMemory {
 public:
  // Lays A and B into DRAM.
  GemmMemory(const MachineParts& parts, const ArrayJob& job, const GemmPlan& plan);

  // Of a step that is loaded: A is [rows, length], B [length, cols].
  std::uint32_t a(const PlannedStep& step, std::int64_t index) const {
    return parts_.a.element(step.a, index, plan_.shape().a_bits);
  }
  std::uint32_t b(const PlannedStep& step, std::int64_t index) const {
    return parts_.b.element(step.b, index, plan_.shape().b_bits);
  }
  // Of a tile that drains into its half of C: [rows, cols].
  void put_c(std::int64_t tile, std::int64_t index, std::uint32_t code) {
    parts_.c.set_element({c_half(tile), 0}, index, plan_.shape().c_bits, code);
  }

  bool loaded(std::int64_t index, const PlannedStep& step) const;
  // The half of C that a tile drains into has been written back: it is free from cycle free_since() on.
  bool half_free(std::int64_t tile) const { return written_ >= tile - 1; }
  std::int64_t free_since(std::int64_t tile) const { return free_since_[tile % 2]; }
  // The oldest unfinished transfer is a write-back.
  bool writes_back() const { return transfer_ == Transfer::write_back; }
  bool finished() const { return written_ == plan_.tiles(); }
  // A cycle passes, in which so many steps have begun, and before which so many tiles had drained.
  void clock(std::int64_t cycle, std::int64_t begun, std::int64_t drained);

  std::uint64_t bytes_moved() const { return parts_.dma.bytes_moved(); }
  std::vector<std::uint32_t> results() const;  // [m, n]

 private:
  // The queue is a place in the list of ARITHMETIC.md 7: of step i its loads, then perhaps the write-back of
  // the tile before. After the last step comes the last write-back.
  enum class Transfer : std::uint8_t { load_a, load_b, write_back };

  void fill_a(const ArrayJob& job, const PlannedStep& step);
  void fill_b(const ArrayJob& job, const PlannedStep& step);
  bool exists() const;
  void next();
  void start();
  void end(std::int64_t cycle);
  std::int64_t c_half(std::int64_t tile) const { return tile % 2 * plan_.c_half_bytes(); }

  MachineParts parts_;
  const GemmPlan& plan_;
  std::int64_t index_ = 0;  // step of the transfer
  PlannedStep step_;
  Transfer transfer_ = Transfer::load_a;
  std::int64_t written_ = 0;                     // tiles, in DRAM
  std::array<std::int64_t, 2> free_since_ = {};  // per half of C
};

}  // namespace mantissa
