// int_array in SystemC: integers and their exact sums; its time is that of array_unit.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "models/array/int_array.hpp"
#include "sim/units/array_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

IntArray int_array_config(const UnitParameters& parameters);

class IntArrayUnit : public ArrayUnit {
 public:
  IntArrayUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters,
               const ArrayOptions& options = {});

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "drain"}; }

 private:
  struct TileSums {
    std::vector<std::uint64_t> sums;  // row-major
    bool overflow = false;            // one has wrapped
  };

  IntArrayUnit(const sc_core::sc_module_name& name, const IntArray& array, int tiles);

  void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) override;
  void beat_taken(std::size_t /*tile*/, bool /*last*/) override {}
  void accumulate_row(int row, int word, std::size_t tile) override;
  void fill_row(int row, std::size_t tile, std::vector<Bits>& data) override;
  void row_left(int row, std::size_t tile) override;
  void tile_left(std::size_t tile) override { tiles_[tile].overflow = false; }
  void show(const OutputRow& row, std::size_t tile) override;
  void reset_values() override { clear(); }
  void clear();

  IntArray array_;

  DataOut c_o_;
  DataOut last_o_;
  DataOut overflow_o_;

  // Per word of the staging memory: elements of A by row and of B by column.
  std::vector<std::uint16_t> staged_a_;
  std::vector<std::uint16_t> staged_b_;
  std::vector<TileSums> tiles_;
};

}  // namespace mantissa
