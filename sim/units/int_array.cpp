// int_array in SystemC: integers and their exact sums; its time is that of array_unit.hpp.
#include "models/array/int_array.hpp"

#include <algorithm>

#include "sim/units/array_unit.hpp"
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
    staged_a_.assign(words() * array_.rows(), 0);
    staged_b_.assign(words() * array_.cols, 0);
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
    const auto elements = [index, word](const Bits& bits, int count, int width,
                                        std::vector<std::uint16_t>& to) {
      const auto words = std::span(to).subspan(static_cast<std::size_t>(word) * count, count);
      for (int i = 0; i < count; ++i) {
        words[i] = static_cast<std::uint16_t>(bits.field((index * count + i) * width, width));
      }
      return words;
    };
    const auto a = elements(a_i_.read(), array_.rows(), array_.a_bits, staged_a_);
    const auto b = elements(b_i_.read(), array_.cols, array_.b_bits, staged_b_);
    for (int row = 0; row < array_.rows(); ++row) nonzero[row] = used(row) && a[row] != 0 ? 1 : 0;
    if (corrupted("stage")) b[0] ^= 1U;
  }
  void beat_taken(std::size_t /*tile*/, bool /*last*/) override {}

  void accumulate_row(int row, int word, std::size_t tile_number) override {
    if (!used(row)) return;
    TileSums& tile = tiles_[tile_number];
    const std::size_t cols = array_.cols;
    const std::uint16_t a = staged_a_[static_cast<std::size_t>(word) * array_.rows() + row];
    const std::uint16_t* b = staged_b_.data() + word * cols;
    const auto sums = std::span(tile.sums).subspan(row * cols, cols);
    for (std::size_t col = 0; col < cols; ++col) {
      const WrappedSum next = int_array_step(array_, a, b[col], sums[col]);
      tile.overflow = tile.overflow || next.wrapped;
      sums[col] = corrupted("accumulate") ? next.acc ^ 2U : next.acc;
    }
  }

  IntArray array_;
  DataOut c_o_{*this, "c_o", array_.cols* array_.acc_bits};
  DataOut last_o_{*this, "last_o", 1};
  DataOut overflow_o_{*this, "overflow_o", 1};

  // Per word of the staging memory: elements of A by row and of B by column.
  std::vector<std::uint16_t> staged_a_;
  std::vector<std::uint16_t> staged_b_;
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
