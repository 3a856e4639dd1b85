// mac_array in SystemC: skip window, staged operands, accumulators, and the drain through bias and
// quantizers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/mac_array.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

MacArray mac_array_config(const UnitParameters& parameters);

// What the RTL array does not have (ARITHMETIC.md 7, "Tiles and drain", "Order").
struct MacArrayOptions {
  // Any number of registers, in place of the operand register and QuantStages: with 0 a product joins its sum
  // in the cycle that selects it, above 2 there are more registers behind the quantizers.
  std::optional<int> pipe_latency;
  // A second set of accumulators: a tile is computed while the one before it drains.
  bool acc_double_buffer = false;
};

class MacArrayUnit : public ClockedUnit {
 public:
  MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
               const MacArrayOptions& options = {});

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "bias", "quantize"}; }
  void corrupt(std::string_view stage) override;

  // For who watches the array at work: a step has begun and not ended, and the elements of A that rows in
  // use have taken so far.
  bool step_active() const { return step_active_; }
  std::uint64_t elements_taken() const { return elements_taken_; }

 private:
  // Settle: the last products join their sums; send one row per cycle; flush the quantizers.
  enum class Drain : std::uint8_t { idle, settle, send, flush };

  // The accumulators of a tile and what counts for it until it has left.
  struct TileSums {
    std::vector<std::uint32_t> sums;  // row-major codes
    std::vector<std::uint32_t> bias;
    int scale = 0;
    bool drain = false;       // the step that is being computed ends the tile
    bool complete = false;    // computed, and on its way out
    bool suppressed = false;  // a zero of A was skipped against Inf or NaN
  };
  // A row on its way out.
  struct OutputRow {
    Bits codes;
    Bits flags;
    Bits sums;
    bool last = false;
    bool valid = false;
  };
  static constexpr int nothing = SkipWork::nothing;

  bool array_ready() const { return window_.ready() && !tiles_[computing_].complete; }
  bool row_offered() const { return drain_ == Drain::send; }
  // The row that is offered to the quantizers finds room there.
  bool row_taken() const;
  const OutputRow& offered_row();
  const OutputRow& output() { return pipe_.empty() ? offered_row() : pipe_.back(); }

  void evaluate() override;
  void advance() override;
  void reset() override;
  void clear();
  void shift_pipe();
  void accumulate();
  void accumulate_row(int row, int word, TileSums& tile);
  void select();
  void take_beat();
  void stage_slice(int index, int word);
  void take_tile(TileSums& tile);
  void load_lanes();
  void advance_drain(bool row_leaves, bool drained);

  MacArray array_;
  MacConfig mac_;
  int leap_;
  std::string corrupt_;
  bool fp32_sums_;

  // Of all codes.
  kernels::DecodeTable a_values_;
  kernels::DecodeTable b_values_;
  std::array<bool, 256> a_zero_{};
  std::array<bool, 256> b_special_{};  // Inf or NaN

  DataIn a_i_;
  DataIn b_i_;
  DataIn count_i_;
  DataIn used_i_;
  DataIn skip_i_;
  DataIn last_i_;
  DataIn drain_i_;
  DataIn bias_i_;
  DataIn scale_i_;
  DataIn load_i_;
  DataIn seed_i_;
  DataOut c_o_;
  DataOut flags_o_;
  DataOut last_o_;
  DataOut suppressed_o_;
  DataOut zero_seed_o_;
  DataOut tap_o_;

  SkipWindowCycles window_;
  // Per word of the staging memory: codes of A by row and of B by column, and B's values.
  std::vector<std::uint8_t> staged_a_;
  std::vector<std::uint8_t> staged_b_;
  std::vector<float> staged_values_;
  std::vector<std::uint8_t> nonzero_;  // of the beat that is taken
  std::vector<bool> used_;             // rows, of the last beat
  // Operand registers: the word whose product each row has still to add. Words stay while they are needed.
  std::vector<int> operands_;
  bool operands_busy_ = false;
  std::size_t operands_tile_ = 0;
  bool step_active_ = false;
  std::uint64_t elements_taken_ = 0;

  std::vector<TileSums> tiles_;  // one, or two that take turns
  std::size_t computing_ = 0;
  std::size_t draining_ = 0;
  Drain drain_ = Drain::idle;
  int row_ = 0;               // that is sent
  bool row_known_ = false;    // row_out_ is that row
  OutputRow row_out_;         // made when it is first asked for
  std::vector<OutputRow> pipe_;  // registers between the accumulators and the outputs
  std::vector<Lfsr> lanes_;      // per column
  bool zero_seed_ = false;
};

}  // namespace mantissa
