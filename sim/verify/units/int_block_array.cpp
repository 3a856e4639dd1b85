// int_block_array: integers, and exact sums.

#include "sim/units/unit_configs.hpp"
#include "sim/verify/units/block_reference.hpp"
#include "sim/verify/units/integer_draw.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class IntegerElements : public TileElements {
 public:
  IntegerElements(const IntBlockArray& array, bool large, stimulus::Dice& dice)
      : array_(array), integers_(dice) {
    if (large) integers_.large = true;
  }
  Bits a(stimulus::Dice& dice, int count, std::uint64_t density) const override {
    return draw(dice, count, array_.a_bits, density);
  }
  Bits b(stimulus::Dice& dice, int count) const override { return draw(dice, count, array_.b_bits, 8); }

 private:
  Bits draw(stimulus::Dice& dice, int count, int width, std::uint64_t density) const {
    Bits bits(count * width);
    for (int i = 0; i < count; ++i) bits.set_field(i * width, width, integers_.integer(dice, width, density));
    return bits;
  }

  const IntBlockArray& array_;
  IntegerDraw integers_;
};

struct IntegerKind {
  using Element = std::uint16_t;
  using Sum = std::uint64_t;
  using Sums = IntBlockSums;

  IntegerKind(const UnitParameters& parameters, FunctionalCoverage& bins)
      : array(int_block_array_config(parameters)), coverage(bins) {}

  int a_bits() const { return array.a_bits; }
  int b_bits() const { return array.b_bits; }
  static bool is_zero(std::uint16_t a) { return a == 0; }

  std::unique_ptr<TileElements> elements(std::uint64_t number, stimulus::Dice& dice) const {
    return std::make_unique<IntegerElements>(array, BlockTilePlan::extreme(number), dice);
  }
  std::unique_ptr<TileElements> dense_elements(stimulus::Dice& dice) const {
    return std::make_unique<IntegerElements>(array, false, dice);
  }

  // One that wraps with the next product.
  std::vector<std::uint64_t> corners() const { return {(std::uint64_t{1} << array.acc_bits) - 1}; }
  static bool reusable(std::uint64_t /*sum*/) { return true; }

  static bool event(const IntBlockSums& sums) { return sums.shadow_overflow(); }
  void sample_event(bool wraps, bool before) {
    coverage.hit(wraps ? wraps_bin : fits_bin);
    coverage.hit_if(before && !wraps, fits_again_bin);
  }
  void sample_a(std::uint16_t q) {
    coverage.hit_if(q == 0, a_zero_bin);
    coverage.hit_if(q == (1U << array.a_bits) - 1, a_largest_bin);
  }
  void sample_b(std::uint16_t q) {
    coverage.hit_if(q == 0, b_zero_bin);
    coverage.hit_if(q == (1U << array.b_bits) - 1, b_largest_bin);
  }
  void sample_sum(std::uint64_t /*sum*/) {}
  void sample_loaded(std::uint64_t sum) {
    coverage.hit_if(sum == (std::uint64_t{1} << array.acc_bits) - 1, loaded_largest_bin);
  }
  void sample_run(const IntBlockRun& /*run*/) {}

  IntBlockArray array;
  FunctionalCoverage& coverage;
  int a_zero_bin = coverage.declare("a zero");
  int a_largest_bin = coverage.declare("a largest");
  int b_zero_bin = coverage.declare("b zero");
  int b_largest_bin = coverage.declare("b largest");
  int loaded_largest_bin = coverage.declare("largest sum loaded");
  int fits_bin = coverage.declare("no sum wraps");
  int wraps_bin = coverage.declare("sum wraps");
  int fits_again_bin = coverage.declare("sum wraps not in the tile after one that did");
};

}  // namespace

UnitKind int_block_array_kind() {
  return {
      .name = "int_block_array",
      .module = "int_block_array",
      .what = "output-stationary array of integers with two sets of exact sums that are exchanged",
      .section = "4, 5, 7",
      .latency = "block_array's",
      .parameters = block_array_parameter_notes({{"ABits", 8, "bits of A: 8 or 16"},
                                                 {"BBits", 8, "bits of B: 8 or 16; not both 16"},
                                                 {"AccBits", 48, "bits of a sum: a product's to 48"}}),
      .ports = block_array_ports({.a = "Port*Rows*ABits",
                                  .b = "Port*Cols*BBits",
                                  .sums = "SumRows*Cols*AccBits",
                                  .zero = "0",
                                  .event = {"overflow_o", "1", "a sum of this tile wrapped"}}),
      // Of sums of 48 bits only loaded ones have all of them in a run.
      .configurations = {{"2x2", array_size(2, 2).with({{"Window", 4}, {"Port", 2}, {"AccBits", 17}})},
                         {"4x4 8x8", array_size(4, 4)},
                         {"4x4 8x16",
                          array_size(4, 4).with({{"BBits", 16}, {"Depth", 4}, {"Port", 3}, {"SumRows", 4}})},
                         {"5x4 16x8 two rows",
                          array_size(5, 4).with(
                              {{"ABits", 16}, {"Depth", 1}, {"Port", 16}, {"AccBits", 26}, {"SumRows", 2}})},
                         {"16x16", {}, false}},
      .systemc = make_int_block_array,
      .reference = [](const UnitParameters& p) { return std::make_unique<BlockReference<IntegerKind>>(p); },
      .default_transactions = 20000,
      .back_pressure = false,
  };
}

}  // namespace mantissa::verify
