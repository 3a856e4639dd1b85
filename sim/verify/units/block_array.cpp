// block_array: codes, and sums that are rounded at every step.

#include <algorithm>

#include "models/format/convert.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/units/block_reference.hpp"
#include "sim/verify/units/code_draw.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class CodeElements : public TileElements {
 public:
  CodeElements(const BlockArray& array, std::uint64_t number, stimulus::Dice& dice)
      : array_(array), codes_(dice) {
    if (!BlockTilePlan::extreme(number)) return;
    // Sums at the two ends of the range.
    only_a_ = BlockTilePlan::shortest(number) ? 1 : array.a.max_code();
    only_b_ = BlockTilePlan::shortest(number) ? 1 : array.b.max_code();
  }
  void without_specials() { codes_.specials = false; }

  Bits a(stimulus::Dice& dice, int count, std::uint64_t density) const override {
    return draw(dice, count, array_.a, density, only_a_);
  }
  Bits b(stimulus::Dice& dice, int count) const override { return draw(dice, count, array_.b, 8, only_b_); }

 private:
  Bits draw(stimulus::Dice& dice, int count, const Format& format, std::uint64_t density,
            std::uint32_t only) const {
    Bits bits(count * format.bits());
    for (int i = 0; i < count; ++i) {
      const std::uint32_t code =
          only != 0 ? only | (i % 2 == 0 ? 0 : format.sign_bit()) : codes_.code(dice, format, density);
      bits.set_field(i * format.bits(), format.bits(), code);
    }
    return bits;
  }

  const BlockArray& array_;
  CodeDraw codes_;
  std::uint32_t only_a_ = 0;  // the magnitude of all elements; 0: any
  std::uint32_t only_b_ = 0;
};

struct CodeKind {
  using Element = std::uint8_t;
  using Sum = std::uint32_t;
  using Sums = BlockSums;

  CodeKind(const UnitParameters& parameters, FunctionalCoverage& bins)
      : array(block_array_config(parameters)), coverage(bins) {
    if (!array.b.has_inf() && !array.b.has_nan()) {
      for (const char* name : {"zero of A", "unused row against", "disabled column against"})
        coverage.exclude(name, "B has neither Inf nor NaN");
    }
    exclude_sums(coverage, "sum", array.a, array.b, array.accumulator);
    exclude_sums(coverage, "loaded", array.a, array.b, array.accumulator);
  }

  int a_bits() const { return array.a.bits(); }
  int b_bits() const { return array.b.bits(); }
  bool is_zero(std::uint8_t a) const { return array.a.is_zero(a); }

  std::unique_ptr<TileElements> elements(std::uint64_t number, stimulus::Dice& dice) const {
    return std::make_unique<CodeElements>(array, number, dice);
  }
  std::unique_ptr<TileElements> dense_elements(stimulus::Dice& dice) const {
    auto elements = std::make_unique<CodeElements>(array, 0, dice);
    elements->without_specials();
    return elements;
  }

  std::vector<std::uint64_t> corners() const {
    const Format& format = array.accumulator;
    const bool infinite = format.has_inf() && (array.a.has_inf() || array.b.has_inf());
    const std::uint32_t inf = infinite ? format.inf_code() : 0;
    const bool nan = array.a.has_nan() || array.b.has_nan();
    return {convert(fp32_bits(1), {.to = format}).code, inf, infinite ? inf | format.sign_bit() : 0,
            nan ? format.nan_code() : 0};
  }
  bool reusable(std::uint32_t sum) const {
    return !array.accumulator.is_inf(sum) && !array.accumulator.is_nan(sum);
  }

  static bool event(const BlockSums& sums) { return sums.shadow_suppressed() != 0; }
  void sample_event(bool suppressed, bool before) {
    coverage.hit_if(suppressed, suppressed_bin);
    coverage.hit_if(before && !suppressed, not_suppressed_bin);
  }
  void sample_a(std::uint8_t code) { a_bins.sample(code); }
  void sample_b(std::uint8_t code) { b_bins.sample(code); }
  void sample_sum(std::uint32_t sum) { sum_bins.sample(sum); }
  void sample_loaded(std::uint32_t sum) { loaded_bins.sample(sum); }
  void sample_run(const BlockRun& run);

  BlockArray array;
  FunctionalCoverage& coverage;
  OperandBins a_bins{coverage, "a", array.a};
  OperandBins b_bins{coverage, "b", array.b};
  OperandBins sum_bins{coverage, "sum", array.accumulator};
  OperandBins loaded_bins{coverage, "loaded", array.accumulator};
  int suppressed_bin = coverage.declare("zero of A skipped against Inf or NaN");
  int not_suppressed_bin = coverage.declare("zero of A no longer skipped so in the next tile");
  int multiplied_bin = coverage.declare("zero of A multiplied with Inf or NaN");
  int unused_bin = coverage.declare("unused row against Inf or NaN");
  int disabled_bin = coverage.declare("disabled column against Inf or NaN");
};

void CodeKind::sample_run(const BlockRun& run) {
  const bool any_row = std::count(run.used_rows.begin(), run.used_rows.end(), 1) > 0;
  for (std::int64_t i = 0; i < run.k; ++i) {
    bool special = false;
    for (int col = 0; col < array.cols; ++col) {
      const std::uint8_t code = run.b[i * array.cols + col];
      if (!array.b.is_inf(code) && !array.b.is_nan(code)) continue;
      if (run.enabled_cols[col] != 0) special = true;
      coverage.hit_if(run.enabled_cols[col] == 0 && any_row, disabled_bin);
    }
    for (int row = 0; row < array.rows() && special; ++row) {
      if (!is_zero(run.a[row * run.k + i])) continue;
      const bool used = run.used_rows[row] != 0;
      coverage.hit_if(!used && run.skip, unused_bin);
      coverage.hit_if(used && !run.skip, multiplied_bin);
    }
  }
}

}  // namespace

UnitKind block_array_kind() {
  const UnitParameters small = array_size(2, 2).with({{"Window", 4}, {"Port", 2}});
  return {
      .name = "block_array",
      .module = "block_array",
      .what =
          "output-stationary array with skip window, staged operands and two sets of sums that are exchanged",
      .section = "4, 7",
      .latency =
          "skip_window's; the sets change roles in cycle X, rows leave from X + 2 on, one exchange per "
          "ceil(Rows/SumRows) + 1 cycles",
      .parameters = block_array_parameter_notes(
          joined({format_notes("A", "A", true),
                  format_notes("B", "B"),
                  {{"AccExp", 8, "exponent bits of the accumulator, at most 8"},
                   {"AccMan", 23, "mantissa bits of the accumulator, at most 23"}}})),
      .ports = block_array_ports(
          {.a = "Port*Rows*AW",
           .b = "Port*Cols*BW",
           .sums = "SumRows*Cols*AccW",
           .zero = "+0",
           .event = {"suppressed_o", "1", "in this tile a zero of A was skipped against Inf or NaN in B"}}),
      .configurations = {{"2x2", small},
                         // Sums without a mantissa.
                         {"2x2 e8m0", small.with({{"AccMan", 0}})},
                         {"4x4", array_size(4, 4)},
                         {"5x4 two rows", array_size(5, 4).with({{"SumRows", 2}})},
                         {"4x4 e4m3", array_size(4, 4)
                                          .with(operand_formats(formats::e4m3, formats::e4m3))
                                          .with({{"Depth", 4}, {"Port", 3}, {"SumRows", 4}})},
                         {"4x4 fp16",
                          array_size(4, 4).with({{"Depth", 1}, {"Port", 16}, {"AccExp", 5}, {"AccMan", 10}})},
                         {"8x8", array_size(8, 8).with({{"Depth", 4}, {"Port", 8}, {"SumRows", 2}}), false},
                         {"16x16", {}, false}},
      .systemc = make_block_array,
      .reference = [](const UnitParameters& p) { return std::make_unique<BlockReference<CodeKind>>(p); },
      .default_transactions = 20000,
      .back_pressure = false,
  };
}

}  // namespace mantissa::verify
