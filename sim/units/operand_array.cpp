#include "sim/units/operand_array.hpp"

#include "sim/units/skip_window.hpp"

namespace mantissa {

OperandArray::OperandArray(const sc_core::sc_module_name& name, const OperandShape& shape)
    : ClockedUnit(name, Follows::nothing),
      a_i_(*this, "a_i", shape.skip_window.port * shape.skip_window.rows * shape.a_bits),
      b_i_(*this, "b_i", shape.skip_window.port * shape.cols * shape.b_bits),
      count_i_(*this, "count_i", slice_count_bits(shape.skip_window)),
      used_i_(*this, "used_i", shape.skip_window.rows),
      skip_i_(*this, "skip_i", 1),
      last_i_(*this, "last_i", 1),
      shape_(shape),
      window_(shape.skip_window) {
  reset_operands();
}

std::size_t OperandArray::words() const {
  return static_cast<std::size_t>(shape_.skip_window.depth) * shape_.skip_window.window;
}

void OperandArray::reset_operands() {
  window_ = SkipWindowCycles(shape_.skip_window);
  nonzero_.assign(static_cast<std::size_t>(shape_.skip_window.port) * rows(), 0);
  used_.assign(rows(), false);
  operands_.assign(rows(), nothing);
  operands_busy_ = false;
  step_active_ = false;
}

// The products in the operand registers join their sums.
void OperandArray::accumulate() {
  if (!operands_busy_) return;
  for (int row = 0; row < rows(); ++row) {
    if (operands_[row] != nothing) accumulate_row(row, operands_[row], operands_tile_);
  }
  operands_busy_ = false;
}

void OperandArray::select(std::size_t tile) {
  if (!window_.working()) return;
  for (int row = 0; row < rows(); ++row) {
    operands_[row] = window_.word(row);
    if (operands_[row] != nothing && used_[row]) ++elements_taken_;
  }
  operands_busy_ = true;
  operands_tile_ = tile;
  if (!shape_.operand_registers) accumulate();
}

bool OperandArray::work(std::size_t tile) {
  accumulate();
  const bool step_ends = window_.working() && window_.last();
  if (step_ends) step_active_ = false;
  select(tile);
  return step_ends;
}

void OperandArray::take_beat(std::size_t tile) {
  const int slices = static_cast<int>(count_i_.value());
  const auto nonzero = std::span(nonzero_).first(static_cast<std::size_t>(slices) * rows());
  for (int row = 0; row < rows(); ++row) used_[row] = used_i_.read().bit(row);
  for (int i = 0; i < slices; ++i) {
    stage_slice(i, window_.next_word() + i, tile,
                nonzero.subspan(static_cast<std::size_t>(i) * rows(), rows()));
  }
  window_.advance(nonzero, skip_i_.value() != 0, last_i_.value() != 0);
  step_active_ = true;
}

}  // namespace mantissa
