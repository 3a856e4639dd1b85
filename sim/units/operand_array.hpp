// What the output-stationary arrays share: how operands come in. Beats into the skip window, the staging, the
// operand registers (rtl/array_operands.sv). Derived units say what elements and sums are, and how sums
// leave.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class OperandArray : public ClockedUnit {
 public:
  // For who watches the array at work: a step has begun and not ended, and the elements of A that rows in
  // use have taken so far.
  bool step_active() const { return step_active_; }
  std::uint64_t elements_taken() const { return elements_taken_; }

 protected:
  struct OperandShape {
    SkipWindow skip_window;
    int cols = 0;
    int a_bits = 0;  // of an element
    int b_bits = 0;
    bool operand_registers = true;  // without them a product joins its sum in the cycle that selects it
  };

  OperandArray(const sc_core::sc_module_name& name, const OperandShape& shape);

  int rows() const { return shape_.skip_window.rows; }
  int cols() const { return shape_.cols; }
  std::size_t words() const;                       // of the staging memory
  bool used(int row) const { return used_[row]; }  // of the last beat

  // Slice `index` of the beat on the inputs goes into a word of the staging memory, for set `tile` of the
  // accumulators. `nonzero` has a byte per row.
  virtual void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) = 0;
  // The row's product joins its sums.
  virtual void accumulate_row(int row, int word, std::size_t tile) = 0;

  bool operands_ready() const { return window_.ready(); }
  // Of a clock edge: operands that are in the registers join their sums, and the next ones are selected, for
  // set `tile`. True: this was the last cycle of work of a step.
  bool work(std::size_t tile);
  // And then: the beat on the inputs is staged, for set `tile`, which need not be the same; or none is.
  void take_beat(std::size_t tile);
  void take_nothing() { window_.advance(); }
  void reset_operands();

  DataIn a_i_;
  DataIn b_i_;
  DataIn count_i_;
  DataIn used_i_;
  DataIn skip_i_;
  DataIn last_i_;

 private:
  static constexpr int nothing = SkipWork::nothing;

  void accumulate();
  void select(std::size_t tile);

  OperandShape shape_;
  SkipWindowCycles window_;
  std::vector<std::uint8_t> nonzero_;  // of the beat that is taken
  std::vector<bool> used_;
  // Operand registers: the word whose product each row has still to add. Words stay while they are needed.
  std::vector<int> operands_;
  bool operands_busy_ = false;
  std::size_t operands_tile_ = 0;
  bool step_active_ = false;
  std::uint64_t elements_taken_ = 0;
};

// For who watches it at work; make_block_array and make_int_block_array make the same.
std::unique_ptr<OperandArray> make_block_array_unit(const char* name, const UnitParameters& parameters);
std::unique_ptr<OperandArray> make_int_block_array_unit(const char* name, const UnitParameters& parameters);

}  // namespace mantissa
