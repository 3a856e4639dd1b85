// mac_array in SystemC: skip window, staged operands, accumulators, and the drain through bias and
// quantizers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/array/mac_array.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/sparsity/skip_window_cycles.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

MacArray mac_array_config(const UnitParameters& parameters);

class MacArrayUnit : public ClockedUnit {
 public:
  MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "bias", "quantize"}; }
  void corrupt(std::string_view stage) override;

 private:
  // Compute takes beats; settle: the last products join their sums; send one row per cycle; flush the
  // quantizers.
  enum class State : std::uint8_t { compute, settle, send, flush };

  // Elements of one k-slice, and what a row of elements holds in its operand registers.
  struct Slice {
    std::vector<std::uint8_t> a;  // per row
    std::vector<std::uint8_t> b;  // per column
  };
  struct Operands {
    std::uint8_t a = 0;
    std::vector<std::uint8_t> b;
  };
  // What counts for the tile that is being computed or drained.
  struct Tile {
    bool drain = false;
    std::vector<std::uint32_t> bias;
    int scale = 0;
    bool suppressed = false;
  };
  // A row on its way out.
  struct OutputRow {
    Bits codes;
    Bits flags;
    Bits sums;
    bool last = false;
  };

  Slice slice(int index) const;  // of the beat on the inputs
  bool takes_beat() const { return valid_i.read() && window_.ready() && state_ == State::compute; }
  bool suppresses(const Slice& slice) const;
  // The row that is offered to the quantizers, if there is one.
  bool row_offered() const { return state_ == State::send; }
  bool row_taken() const;
  OutputRow quantized_row() const;
  std::optional<OutputRow> output() const;

  void evaluate() override;
  void advance() override;
  void reset() override;
  void clear();
  void accumulate();
  void select();
  void take_beat();

  MacArray array_;
  MacConfig mac_;
  int leap_;
  bool quantizer_register_;
  std::string corrupt_;

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

  State state_ = State::compute;
  SkipWindowCycles window_;
  std::vector<Slice> staged_;                      // per word
  std::vector<std::optional<Operands>> operands_;  // per row: the product that is not yet added
  std::vector<std::uint32_t> sums_;                // row-major codes
  Tile tile_;
  int row_ = 0;              // that is sent
  int cleared_row_ = -1;     // that was sent in the cycle before
  std::vector<Lfsr> lanes_;  // per column
  bool zero_seed_ = false;
  std::optional<OutputRow> quantizing_;  // in the quantizers' register
};

}  // namespace mantissa
