// The lines of an operand: which of them a step needs, and where their elements lie in the tensor
// (ARITHMETIC.md 7, "Lines"). A line is named by its place in [outers, groups, lines] of BlockOperand.
#pragma once

#include <cstdint>
#include <vector>

#include "models/tensor/lowered.hpp"
#include "sim/arch/block_plan.hpp"
#include "sim/machine/dram_pieces.hpp"

namespace mantissa {

// Keeps a reference.
class BlockLines {
 public:
  BlockLines(const BlockPlan& plan, GemmSide side)
      : plan_(plan), operand_(side == GemmSide::a ? plan.a() : plan.b()), side_(side) {}

  const BlockOperand& operand() const { return operand_; }
  std::int64_t count() const { return operand_.outers * operand_.groups * operand_.lines; }
  std::int64_t elements(std::int64_t line) const { return operand_.line_elements[line / operand_.lines]; }
  int bits() const { return operand_.bits; }
  std::int64_t name(std::int64_t step, std::int64_t group, std::int64_t line) const {
    return (operand_.pieces[step].outer * operand_.groups + group) * operand_.lines + line;
  }
  std::vector<std::int64_t> needed(std::int64_t step) const;
  // Where the elements of a line lie, in their order in the line: channel by channel, or column by column of
  // the weights, the last index of the tensor fastest.
  void add_pieces(std::int64_t line, std::vector<ElementPiece>& pieces) const;
  // Channels of a group that columns of a block touch, in the weight gradient: the first one.
  static std::int64_t first_channel(const BlockPlan& plan, const Rectangle& block, std::int64_t group);

 private:
  struct Range {
    std::int64_t begin = 0, end = 0;
  };
  Range columns(std::int64_t block_col) const;
  Range units(std::int64_t segment) const;
  void add_image_line(std::int64_t channels, const std::array<std::int64_t, 2>& size, Range of,
                      std::int64_t line, std::vector<ElementPiece>& pieces) const;
  void add_weights(std::int64_t outer, std::vector<ElementPiece>& pieces) const;

  const BlockPlan& plan_;
  const BlockOperand& operand_;
  GemmSide side_;
};

}  // namespace mantissa
