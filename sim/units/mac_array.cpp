// mac_array in SystemC: codes, accumulators, and the drain through bias and quantizers; its time is that of
// array_unit.hpp.
#include "models/array/mac_array.hpp"

#include <algorithm>

#include "models/mac/arithmetic.hpp"
#include "sim/units/array_unit.hpp"
#include "sim/units/staged_codes.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class MacArrayUnit : public ArrayUnit {
 public:
  MacArrayUnit(const sc_core::sc_module_name& name, const MacArray& array, int leap, int tiles)
      : ArrayUnit(name,
                  {.skip_window = array.skip_window,
                   .cols = array.cols,
                   .a_bits = array.a.bits(),
                   .b_bits = array.b.bits(),
                   .pipe_latency = array.pipe_latency,
                   .tiles = tiles},
                  {Bits(array.cols * array.drain.to.bits()), Bits(array.cols * 5),
                   Bits(array.cols * array.accumulator.bits())}),
        array_(array),
        leap_(leap),
        tiles_(tiles) {
    clear();
  }

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

  void clear() {
    const std::size_t cols = array_.cols;
    staged_.clear();
    for (TileSums& tile : tiles_) {
      tile = {};
      tile.sums.assign(array_.rows() * cols, 0);
      tile.bias.assign(cols, 0);
    }
    lanes_.assign(cols, Lfsr(1, leap_));
    zero_seed_ = false;
  }
  void reset_values() override { clear(); }

  // ---------------------------------------------------------------------------------------------- outputs

  void fill_row(int row, std::size_t tile_number, std::vector<Bits>& data) override {
    const int code_bits = array_.drain.to.bits();
    const int sum_bits = array_.accumulator.bits();
    const TileSums& tile = tiles_[tile_number];
    Conversion drain = array_.drain;
    drain.scale = tile.scale;
    for (int col = 0; col < array_.cols; ++col) {
      const std::uint32_t sum = tile.sums[static_cast<std::size_t>(row) * array_.cols + col];
      const std::uint32_t wide = convert(sum, {.from = array_.accumulator}).code;
      std::uint32_t biased = fp32_add(wide, tile.bias[col]).code;
      if (corrupted("bias")) biased ^= 1U << 22;
      Lfsr lane = lanes_[col];
      Rounded rounded = convert(biased, drain, drain.rounding.stochastic() ? lane.draw() : 0);
      if (corrupted("quantize")) rounded.code ^= 1;
      data[Output::codes_out].set_field(col * code_bits, code_bits, rounded.code);
      data[Output::flags_out].set_field(col * 5, 5, rounded.flags.bits());
      data[Output::sums_out].set_field(col * sum_bits, sum_bits, sum);
    }
  }

  void show(const OutputRow& row, std::size_t tile) override {
    c_o_.write(row.data[Output::codes_out]);
    flags_o_.write(row.data[Output::flags_out]);
    last_o_.put(row.last ? 1 : 0);
    suppressed_o_.put(tiles_[tile].suppressed ? 1 : 0);
    zero_seed_o_.put(zero_seed_ ? 1 : 0);
    tap_o_.write(row.data[Output::sums_out]);
  }

  void row_left(int row, std::size_t tile) override {
    std::fill_n(tiles_[tile].sums.begin() + static_cast<std::ptrdiff_t>(row) * array_.cols, array_.cols, 0);
    if (!array_.drain.rounding.stochastic()) return;
    for (Lfsr& lane : lanes_) lane.draw();
  }
  void tile_left(std::size_t tile) override { tiles_[tile].suppressed = false; }

  // ---------------------------------------------------------------------------------------------- compute

  void accumulate_row(int row, int word, std::size_t tile) override {
    const std::size_t cols = array_.cols;
    const auto sums = std::span(tiles_[tile].sums).subspan(row * cols, cols);
    staged_.accumulate(row, word, all_cols_, sums);
    if (corrupted("accumulate")) {
      for (std::uint32_t& sum : sums) sum ^= 1U << (mac_.acc.mantissa_bits - 1);
    }
  }

  void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) override {
    staged_.stage(index, word, a_i_.read(), b_i_.read(), nonzero);
    bool used_zero = false;
    for (int row = 0; row < array_.rows(); ++row) used_zero = used_zero || (nonzero[row] == 0 && used(row));
    // A zero of A in a row in use that is skipped against Inf or NaN in B.
    if (used_zero && skip_i_.value() != 0 && staged_.special(word, all_cols_)) tiles_[tile].suppressed = true;
    if (corrupted("stage")) staged_.corrupt(word);
  }

  void beat_taken(std::size_t tile_number, bool last) override {
    if (last) {
      TileSums& tile = tiles_[tile_number];
      for (int col = 0; col < array_.cols; ++col) {
        tile.bias[col] = static_cast<std::uint32_t>(bias_i_.read().field(32 * col, 32));
      }
      tile.scale = scale_i_.signed_byte();
    }
    if (load_i_.value() != 0 && array_.drain.rounding.stochastic()) load_lanes();
  }

  void load_lanes() {
    zero_seed_ = false;
    for (int col = 0; col < array_.cols; ++col) {
      const auto seed = static_cast<std::uint32_t>(seed_i_.read().field(32 * col, 32));
      // The generator refuses state 0; the unit loads 1 in its place and says so (ARITHMETIC.md 3).
      zero_seed_ = zero_seed_ || seed == 0;
      lanes_[col] = Lfsr(seed == 0 ? 1 : seed, leap_);
    }
  }

  MacArray array_;
  MacConfig mac_{.a = array_.a, .b = array_.b, .acc = array_.accumulator};
  int leap_;
  DataIn bias_i_{*this, "bias_i", 32 * array_.cols};
  DataIn scale_i_{*this, "scale_i", 8};
  DataIn load_i_{*this, "load_i", 1};
  DataIn seed_i_{*this, "seed_i", 32 * array_.cols};
  DataOut c_o_{*this, "c_o", array_.cols* array_.drain.to.bits()};
  DataOut flags_o_{*this, "flags_o", array_.cols * 5};
  DataOut last_o_{*this, "last_o", 1};
  DataOut suppressed_o_{*this, "suppressed_o", 1};
  DataOut zero_seed_o_{*this, "zero_seed_o", 1};
  DataOut tap_o_{*this, "tap_o", array_.cols* array_.accumulator.bits()};

  StagedCodes staged_{mac_, array_.rows(), array_.cols, words()};
  std::vector<ColumnRange> all_cols_{{0, array_.cols}};
  std::vector<TileSums> tiles_;
  std::vector<Lfsr> lanes_;  // per column
  bool zero_seed_ = false;
};

}  // namespace

std::unique_ptr<ArrayUnit> make_mac_array(const char* name, const UnitParameters& parameters,
                                          const ArrayOptions& options) {
  MacArray array = mac_array_config(parameters);
  if (options.pipe_latency) array.pipe_latency = *options.pipe_latency;
  array.check();
  return std::make_unique<MacArrayUnit>(name, array, parameters.at("Leap"), options.tiles());
}

std::unique_ptr<UnitModule> make_mac_array(const char* name, const UnitParameters& parameters) {
  return make_mac_array(name, parameters, {});
}

}  // namespace mantissa
