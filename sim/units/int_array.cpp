// int_array in SystemC: integers and their exact sums; its time is that of array_unit.hpp.
#include "models/array/int_array.hpp"

#include <algorithm>

#include "sim/units/array_unit.hpp"
#include "sim/units/staged_integers.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class IntArrayUnit : public ArrayUnit {
 public:
  IntArrayUnit(const sc_core::sc_module_name& name, const IntArray& array, int tiles)
      : ArrayUnit(name,
                  {.skip_window = array.skip_window,
                   .cols = array.cols,
                   .a_bits = array.a_bits,
                   .b_bits = array.b_bits,
                   .pipe_latency = array.pipe_latency,
                   .tiles = tiles},
                  {Bits(array.cols * array.acc_bits)}),
        array_(array),
        staged_(array, words()),
        tiles_(tiles) {
    clear();
  }

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "drain"}; }

 private:
  struct TileSums {
    std::vector<std::uint64_t> sums;  // row-major
    bool overflow = false;            // one has wrapped
  };

  void clear() {
    staged_.clear();
    for (TileSums& tile : tiles_) {
      tile.sums.assign(static_cast<std::size_t>(array_.rows()) * array_.cols, 0);
      tile.overflow = false;
    }
  }
  void reset_values() override { clear(); }

  void fill_row(int row, std::size_t tile, std::vector<Bits>& data) override {
    const std::uint64_t* sums = tiles_[tile].sums.data() + static_cast<std::ptrdiff_t>(row) * array_.cols;
    for (int col = 0; col < array_.cols; ++col) {
      const std::uint64_t sum = corrupted("drain") ? sums[col] ^ 1U : sums[col];
      data[0].set_field(col * array_.acc_bits, array_.acc_bits, sum);
    }
  }

  void show(const OutputRow& row, std::size_t tile) override {
    c_o_.write(row.data[0]);
    last_o_.put(row.last ? 1 : 0);
    overflow_o_.put(tiles_[tile].overflow ? 1 : 0);
  }

  void row_left(int row, std::size_t tile) override {
    std::fill_n(tiles_[tile].sums.begin() + static_cast<std::ptrdiff_t>(row) * array_.cols, array_.cols, 0);
  }
  void tile_left(std::size_t tile) override { tiles_[tile].overflow = false; }

  void stage_slice(int index, int word, std::size_t /*tile*/, std::span<std::uint8_t> nonzero) override {
    staged_.stage(index, word, a_i_.read(), b_i_.read(), nonzero);
    for (int row = 0; row < array_.rows(); ++row) nonzero[row] = nonzero[row] != 0 && used(row) ? 1 : 0;
    if (corrupted("stage")) staged_.corrupt(word);
  }
  void beat_taken(std::size_t /*tile*/, bool /*last*/) override {}

  void accumulate_row(int row, int word, std::size_t tile_number) override {
    if (!used(row)) return;
    TileSums& tile = tiles_[tile_number];
    const auto sums = std::span(tile.sums).subspan(static_cast<std::size_t>(row) * array_.cols, array_.cols);
    const ColumnRange all{0, array_.cols};
    if (staged_.accumulate(row, word, {&all, 1}, sums)) tile.overflow = true;
    if (!corrupted("accumulate")) return;
    for (std::uint64_t& sum : sums) sum ^= 2U;
  }

  IntArray array_;
  DataOut c_o_{*this, "c_o", array_.cols* array_.acc_bits};
  DataOut last_o_{*this, "last_o", 1};
  DataOut overflow_o_{*this, "overflow_o", 1};

  StagedIntegers staged_;
  std::vector<TileSums> tiles_;
};

}  // namespace

std::unique_ptr<ArrayUnit> make_int_array(const char* name, const UnitParameters& parameters,
                                          const ArrayOptions& options) {
  IntArray array = int_array_config(parameters);
  if (options.pipe_latency) array.pipe_latency = *options.pipe_latency;
  array.check();
  return std::make_unique<IntArrayUnit>(name, array, options.tiles());
}

std::unique_ptr<UnitModule> make_int_array(const char* name, const UnitParameters& parameters) {
  return make_int_array(name, parameters, {});
}

}  // namespace mantissa
