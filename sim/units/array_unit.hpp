// What the arrays that drain share: the course of a tile (rtl/array_drain.sv), on operands that come in as
// operand_array.hpp has it. What elements and sums are, a derived unit says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/units/operand_array.hpp"
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

class ArrayUnit : public OperandArray {
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

  // A beat is taken: what else comes with it. `last`: it ends its step.
  virtual void beat_taken(std::size_t tile, bool last) = 0;
  virtual void fill_row(int row, std::size_t tile, std::vector<Bits>& data) = 0;
  // Its sums start again; and the whole tile is out.
  virtual void row_left(int row, std::size_t tile) = 0;
  virtual void tile_left(std::size_t tile) = 0;
  // The outputs, for this row of the tile.
  virtual void show(const OutputRow& row, std::size_t tile) = 0;
  virtual void reset_values() = 0;

  DataIn drain_i_;

 private:
  // Settle: the last products join their sums; send one row per cycle; flush the registers behind them.
  enum class Drain : std::uint8_t { idle, settle, send, flush };
  struct Tile {
    bool drain = false;     // the step that is being computed ends the tile
    bool complete = false;  // computed, and on its way out
  };

  bool array_ready() const { return operands_ready() && !tiles_[computing_].complete; }
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
  void advance_drain(bool row_leaves, bool drained);

  int pipe_latency_;
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
