// block_array in SystemC: codes and their rounded sums; its time is that of exchange_array.hpp.
#include "models/array/block_array.hpp"

#include "sim/units/exchange_array.hpp"
#include "sim/units/staged_codes.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class BlockArrayUnit : public ExchangeArray<std::uint32_t> {
 public:
  BlockArrayUnit(const sc_core::sc_module_name& name, const BlockArray& array)
      : ExchangeArray(name, {.operands = {.skip_window = array.skip_window,
                                          .cols = array.cols,
                                          .a_bits = array.a.bits(),
                                          .b_bits = array.b.bits()},
                             .sum_bits = array.sum_bits(),
                             .sum_rows = array.sum_rows,
                             .event_port = "suppressed_o",
                             .fault = 1U << array.accumulator.mantissa_bits}),
        staged_({.a = array.a, .b = array.b, .acc = array.accumulator}, array.rows(), array.cols, words()) {}

 private:
  void clear_staged() override { staged_.clear(); }

  // The event: a zero of A is skipped against Inf or NaN.
  void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) override {
    staged_.stage(index, word, a_i_.read(), b_i_.read(), nonzero);
    bool used_zero = false;
    for (int row = 0; row < rows(); ++row) {
      used_zero = used_zero || (nonzero[row] == 0 && used(row));
      nonzero[row] = nonzero[row] != 0 && used(row) ? 1 : 0;
    }
    if (used_zero && skip_i_.value() != 0 && staged_.special(word, enabled())) report_event(tile);
    if (corrupted("stage")) staged_.corrupt(word);
  }

  void accumulate_row(int row, int word, std::size_t tile) override {
    if (!used(row)) return;
    const auto sums = row_sums(row, tile);
    staged_.accumulate(row, word, enabled(), sums);
    if (corrupted("accumulate")) corrupt_sums(sums);
  }

  StagedCodes staged_;
};

}  // namespace

std::unique_ptr<OperandArray> make_block_array_unit(const char* name, const UnitParameters& parameters) {
  const BlockArray array = block_array_config(parameters);
  array.check();
  return std::make_unique<BlockArrayUnit>(name, array);
}

std::unique_ptr<UnitModule> make_block_array(const char* name, const UnitParameters& parameters) {
  return make_block_array_unit(name, parameters);
}

}  // namespace mantissa
