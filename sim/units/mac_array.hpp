// mac_array in SystemC: codes, accumulators, and the drain through bias and quantizers; its time is that of
// array_unit.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "models/array/mac_array.hpp"
#include "models/kernels/decode_table.hpp"
#include "models/mac/fp8_mac.hpp"
#include "sim/units/array_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

MacArray mac_array_config(const UnitParameters& parameters);

using MacArrayOptions = ArrayOptions;

class MacArrayUnit : public ArrayUnit {
 public:
  MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
               const MacArrayOptions& options = {});

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "bias", "quantize"}; }

 private:
  // The accumulators of a tile and what counts for it until it has left.
  struct TileSums {
    std::vector<std::uint32_t> sums;  // row-major codes
    std::vector<std::uint32_t> bias;
    int scale = 0;
    bool suppressed = false;  // a zero of A was skipped against Inf or NaN
  };
  // The data of an output row.
  enum Output : std::uint8_t { codes_out, flags_out, sums_out };

  MacArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters, const MacArray& array,
               int tiles);

  void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) override;
  void beat_taken(std::size_t tile, bool last) override;
  void accumulate_row(int row, int word, std::size_t tile) override;
  void fill_row(int row, std::size_t tile, std::vector<Bits>& data) override;
  void row_left(int row, std::size_t tile) override;
  void tile_left(std::size_t tile) override { tiles_[tile].suppressed = false; }
  void show(const OutputRow& row, std::size_t tile) override;
  void reset_values() override { clear(); }
  void clear();
  void load_lanes();

  MacArray array_;
  MacConfig mac_;
  int leap_;
  bool fp32_sums_;

  // Of all codes.
  kernels::DecodeTable a_values_;
  kernels::DecodeTable b_values_;
  std::array<bool, 256> a_zero_{};
  std::array<bool, 256> b_special_{};  // Inf or NaN

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

  // Per word of the staging memory: codes of A by row and of B by column, and B's values.
  std::vector<std::uint8_t> staged_a_;
  std::vector<std::uint8_t> staged_b_;
  std::vector<float> staged_values_;
  std::vector<TileSums> tiles_;
  std::vector<Lfsr> lanes_;  // per column
  bool zero_seed_ = false;
};

}  // namespace mantissa
