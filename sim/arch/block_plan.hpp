// How a pass is cut for the second machine (ARITHMETIC.md 7, "Blocks"): blocks, steps, and the lines that
// each step needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/mac/pass_phases.hpp"
#include "sim/arch/architecture.hpp"
#include "sim/arch/block_job.hpp"

namespace mantissa {

constexpr std::int64_t max_block_steps = std::int64_t{1} << 24;

// What a step, or a set of steps, needs of an operand: lines (outer, group, line) for one `outer`, the
// segment or block that they belong to, a range of groups, and a set of lines, by its place in
// BlockOperand::line_sets.
struct BlockPiece {
  std::int64_t outer = 0;
  std::int64_t group0 = 0, group1 = 0;
  std::int32_t lines = 0;
};

// An operand's lines. The weights have a line per segment and block column: one in its set, and no groups.
struct BlockOperand {
  std::int64_t outers = 1;
  std::int64_t groups = 1;
  std::int64_t lines = 1;  // that a set may have
  int bits = 8;
  std::vector<std::int64_t> line_elements;            // [outers, groups]
  std::vector<std::int64_t> line_bytes;               // [outers, groups, lines] of packed lines; else empty
  std::vector<std::vector<std::uint64_t>> line_sets;  // bit l of word l / 64: line l
  std::vector<BlockPiece> pieces;                     // per step
  bool row_scope = false;                             // the scope "row" exists: see BlockStep::row
  std::int64_t words() const { return (lines + 63) / 64; }
};

struct BlockStep {
  std::int64_t block = 0;
  std::int64_t row = 0;  // of the outer loop: block row or block column
  std::int64_t block_row = 0;
  std::int64_t segment = 0;
  bool opens_block = false;
  bool closes_block = false;
  std::int64_t k_units = 0;  // channels or lines; none in an empty step
  bool empty() const { return k_units == 0; }
};

class BlockPlan {
 public:
  // Throws std::invalid_argument for a mapping that the law refuses, but for what does not fit the buffers.
  // `row_nonzero` as in block_cycles, of a packed job.
  BlockPlan(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
            std::span<const std::uint32_t> row_nonzero = {});

  struct Phase {
    PassPhase geometry;
    std::int64_t k_per_unit = 1;  // of k in a unit of k_block: channels, or lines
  };

  const BlockJob& job() const { return job_; }
  const BlockMapping& mapping() const { return mapping_; }
  const std::vector<Phase>& phases() const { return phases_; }
  std::int64_t groups() const { return job_.shape.groups; }
  std::int64_t columns_per_group() const { return columns_per_group_; }
  std::int64_t k_units() const { return k_units_; }  // channels or lines in all
  std::int64_t segments() const { return segments_; }
  std::int64_t block_rows() const { return block_rows_; }
  std::int64_t block_cols() const { return block_cols_; }
  std::int64_t blocks() const { return block_rows_ * block_cols_; }
  // Outputs of a block.
  Rectangle outputs(std::int64_t block) const;
  Rectangle largest_block() const;  // only its sides count

  // Rows of a phase that a block row has, as the phase counts them; none where the phase has no taps.
  struct Rows {
    std::int64_t begin = 0, end = 0;
  };
  const Rows& rows(std::int64_t block_row, std::size_t phase) const {
    return rows_[static_cast<std::size_t>(block_row) * phases_.size() + phase];
  }
  const std::vector<BlockStep>& steps() const { return steps_; }
  const BlockOperand& a() const { return a_; }
  const BlockOperand& b() const { return b_; }

  std::int64_t tensor_bytes() const;
  std::int64_t scheduled_macs() const;

 private:
  void check(const Architecture& arch) const;
  std::int64_t block_row_of(std::int64_t block) const;
  std::int64_t block_col_of(std::int64_t block) const;
  std::int64_t segment_units(std::int64_t segment) const;
  void size_lines();
  void pack_lines(std::span<const std::uint32_t> row_nonzero);
  void lay_rows();
  void lay_steps();
  void add_step(const BlockStep& step);
  // Channels of a group that columns touch, in the weight gradient.
  std::int64_t channels_touched(std::int64_t group, std::int64_t col0, std::int64_t col1) const;
  std::int64_t group_of(std::int64_t column) const { return column / columns_per_group_; }
  void add_lines(const Phase& phase, const Rows& part, std::vector<std::uint64_t>& lines) const;
  std::vector<std::uint64_t> gradient_lines(std::int64_t first, std::int64_t end) const;
  std::vector<std::uint64_t> input_lines(std::int64_t first, std::int64_t end) const;

  BlockJob job_;
  BlockMapping mapping_;
  std::vector<Phase> phases_;
  std::int64_t columns_per_group_ = 1;
  std::int64_t k_units_ = 1;
  std::int64_t segments_ = 1;
  std::int64_t block_rows_ = 1;
  std::int64_t block_cols_ = 1;
  std::vector<Rows> rows_;  // [block_rows, phases]
  std::vector<BlockStep> steps_;
  BlockOperand a_;
  BlockOperand b_;
  std::int64_t packed_bytes_ = 0;  // of all of A that is needed, as one packed line
};

}  // namespace mantissa
