// What the output-stationary arrays share: time. Beats into the skip window, the operand registers, the
// course of a tile and its drain (rtl/array_operands.sv, rtl/array_drain.sv). What elements and sums are, a
// derived unit says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// What the RTL arrays do not have (ARITHMETIC.md 7, "Tiles and drain", "Order").
struct ArrayOptions {
  // Any number of registers, in place of the operand register and those of the drain: with 0 a product joins
  // its sum in the cycle that selects it, above 2 there are more registers behind the sums.
  std::optional<int> pipe_latency;
  // A second set of accumulators: a tile is computed while the one before it drains.
  bool acc_double_buffer = false;
  int tiles() const { return acc_double_buffer ? 2 : 1; }
};

class ArrayUnit : public ClockedUnit {
 public:
  // For who watches the array at work: a step has begun and not ended, and the elements of A that rows in
  // use have taken so far.
  bool step_active() const { return step_active_; }
  std::uint64_t elements_taken() const { return elements_taken_; }

 protected:
  struct Shape {
    SkipWindow skip_window;
    int cols = 0;
    int a_bits = 0;  // of an element
    int b_bits = 0;
    int pipe_latency = 0;
    int tiles = 1;  // sets of accumulators
  };
  // A row on its way out: one value per output that goes with it, as the derived unit has them.
  struct OutputRow {
    std::vector<Bits> data;
    bool last = false;
    bool valid = false;
  };

  // `blank` is the data of an output row.
  ArrayUnit(const sc_core::sc_module_name& name, const Shape& shape, std::vector<Bits> blank);

  int rows() const { return shape_.skip_window.rows; }
  int cols() const { return shape_.cols; }
  std::size_t words() const;  // of the staging memory
  std::size_t tiles() const { return tiles_.size(); }
  bool used(int row) const { return used_[row]; }  // of the last beat

  // Slice `index` of the beat on the inputs goes into a word of the staging memory, for set `tile` of the
  // accumulators. `nonzero` has a byte per row.
  virtual void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) = 0;
  // A beat is taken: what else comes with it. `last`: it ends its step.
  virtual void beat_taken(std::size_t tile, bool last) = 0;
  // The row's product joins its sums.
  virtual void accumulate_row(int row, int word, std::size_t tile) = 0;
  virtual void fill_row(int row, std::size_t tile, std::vector<Bits>& data) = 0;
  // Its sums start again; and the whole tile is out.
  virtual void row_left(int row, std::size_t tile) = 0;
  virtual void tile_left(std::size_t tile) = 0;
  // The outputs, for this row of the tile.
  virtual void show(const OutputRow& row, std::size_t tile) = 0;
  virtual void reset_values() = 0;

  DataIn a_i_;
  DataIn b_i_;
  DataIn count_i_;
  DataIn used_i_;
  DataIn skip_i_;
  DataIn last_i_;
  DataIn drain_i_;

 private:
  // Settle: the last products join their sums; send one row per cycle; flush the registers behind them.
  enum class Drain : std::uint8_t { idle, settle, send, flush };
  struct Tile {
    bool drain = false;     // the step that is being computed ends the tile
    bool complete = false;  // computed, and on its way out
  };
  static constexpr int nothing = SkipWork::nothing;

  bool array_ready() const { return window_.ready() && !tiles_[computing_].complete; }
  bool row_offered() const { return drain_ == Drain::send; }
  // The row that is offered to the registers behind the sums finds room there.
  bool row_taken() const;
  const OutputRow& offered_row();
  const OutputRow& output() { return pipe_.empty() ? offered_row() : pipe_.back(); }

  void evaluate() override;
  void advance() override;
  void reset() override;
  void reset_time();
  void shift_pipe();
  void accumulate();
  void select();
  void take_beat();
  void advance_drain(bool row_leaves, bool drained);

  Shape shape_;
  SkipWindowCycles window_;
  std::vector<std::uint8_t> nonzero_;  // of the beat that is taken
  std::vector<bool> used_;
  // Operand registers: the word whose product each row has still to add. Words stay while they are needed.
  std::vector<int> operands_;
  bool operands_busy_ = false;
  std::size_t operands_tile_ = 0;
  bool step_active_ = false;
  std::uint64_t elements_taken_ = 0;

  std::vector<Tile> tiles_;  // one, or two that take turns
  std::size_t computing_ = 0;
  std::size_t draining_ = 0;
  Drain drain_ = Drain::idle;
  int row_ = 0;                  // that is sent
  bool row_known_ = false;       // row_out_ is that row
  OutputRow row_out_;            // made when it is first asked for
  std::vector<OutputRow> pipe_;  // registers between the accumulators and the outputs
};

std::unique_ptr<ArrayUnit> make_mac_array(const char* name, const UnitParameters& parameters,
                                          const ArrayOptions& options);
std::unique_ptr<ArrayUnit> make_int_array(const char* name, const UnitParameters& parameters,
                                          const ArrayOptions& options);

}  // namespace mantissa
