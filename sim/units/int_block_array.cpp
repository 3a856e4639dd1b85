// int_block_array in SystemC: integers and their exact sums; its time is that of exchange_array.hpp.
#include "models/array/int_block_array.hpp"

#include "sim/units/exchange_array.hpp"
#include "sim/units/staged_integers.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class IntBlockArrayUnit : public ExchangeArray<std::uint64_t> {
 public:
  IntBlockArrayUnit(const sc_core::sc_module_name& name, const IntBlockArray& array)
      : ExchangeArray(name, {.operands = {.skip_window = array.skip_window,
                                          .cols = array.cols,
                                          .a_bits = array.a_bits,
                                          .b_bits = array.b_bits},
                             .sum_bits = array.sum_bits(),
                             .sum_rows = array.sum_rows,
                             .event_port = "overflow_o",
                             .fault = 2}),
        staged_(array.int_array(), words()) {}

 private:
  void clear_staged() override { staged_.clear(); }

  void stage_slice(int index, int word, std::size_t /*tile*/, std::span<std::uint8_t> nonzero) override {
    staged_.stage(index, word, a_i_.read(), b_i_.read(), nonzero);
    for (int row = 0; row < rows(); ++row) nonzero[row] = nonzero[row] != 0 && used(row) ? 1 : 0;
    if (corrupted("stage")) staged_.corrupt(word);
  }

  // The event: a sum wraps.
  void accumulate_row(int row, int word, std::size_t tile) override {
    if (!used(row)) return;
    const auto sums = row_sums(row, tile);
    if (staged_.accumulate(row, word, enabled(), sums)) report_event(tile);
    if (corrupted("accumulate")) corrupt_sums(sums);
  }

  StagedIntegers staged_;
};

}  // namespace

std::unique_ptr<OperandArray> make_int_block_array_unit(const char* name, const UnitParameters& parameters) {
  const IntBlockArray array = int_block_array_config(parameters);
  array.check();
  return std::make_unique<IntBlockArrayUnit>(name, array);
}

std::unique_ptr<UnitModule> make_int_block_array(const char* name, const UnitParameters& parameters) {
  return make_int_block_array_unit(name, parameters);
}

}  // namespace mantissa
