// mac_array: tiles of all shapes, cut into steps, windows and beats; what drains is the golden tile.

#include <algorithm>

#include "sim/stimulus/vector_unit.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/units/mac_array_tiles.hpp"
#include "sim/verify/units/rounding_parameter.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class MacArrayReference : public Reference {
  using Input = TilePlan::Input;

 public:
  explicit MacArrayReference(const UnitParameters& parameters)
      : array_(mac_array_config(parameters)),
        leap_(parameters.at("Leap")),
        lanes_(array_.cols, Lfsr(1, leap_)) {
    const bool b_special = array_.b.has_inf() || array_.b.has_nan();
    for (const char* name : {"zero of A", "unused row against"}) {
      if (!b_special) coverage_.exclude(name, "B has neither Inf nor NaN");
    }
    if (!array_.drain.rounding.stochastic()) coverage_.exclude("seed 0", "the drain draws nothing");
    coverage_.exclude("c -nan", "NaN is canonical");
    exclude_sums(coverage_, "accumulator", array_.a, array_.b, array_.accumulator);
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished()) plan_.emplace(array_, tiles_++, dice);
    return plan_->beat(dice);
  }

  Transaction busy_stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished()) plan_.emplace(TilePlan::dense(array_, 256, dice));
    return plan_->beat(dice);
  }

  // Without valid nothing is looked at.
  Transaction idle(stimulus::Dice& dice) override {
    TilePlan nonsense(array_, dice.next(), dice);
    return nonsense.beat(dice);
  }

  std::uint64_t operations(const Transaction& inputs) const override {
    return inputs[Input::count].value() * array_.rows() * array_.cols;
  }

  void accept(const Transaction& inputs) override {
    const auto slices = static_cast<int>(inputs[Input::count].value());
    const auto codes = [&](Input port, int elements, const Format& format, OperandBins& bins) {
      std::vector<std::uint8_t> all(static_cast<std::size_t>(slices) * elements);
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] =
            static_cast<std::uint8_t>(inputs[port].field(static_cast<int>(i) * format.bits(), format.bits()));
        bins.sample(all[i]);
      }
      return all;
    };
    const std::vector<std::uint8_t> a = codes(Input::a, array_.rows(), array_.a, a_bins_);
    const std::vector<std::uint8_t> b = codes(Input::b, array_.cols, array_.b, b_bins_);
    a_slices_.insert(a_slices_.end(), a.begin(), a.end());
    b_.insert(b_.end(), b.begin(), b.end());
    array_.skip_window.skip = inputs[Input::skip].value() != 0;
    if (inputs[Input::load].value() != 0) load_lanes(inputs[Input::seed]);
    if (inputs[Input::last].value() == 0) return;
    ++steps_in_tile_;
    if (inputs[Input::drain].value() != 0) finish_tile(inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {
        "tile of " + std::to_string(rows_used(cause)) + " rows in use, skipping " +
            (cause[Input::skip].value() != 0 ? "on" : "off") + ", scale 2^" + std::to_string(scale_of(cause)),
        "tap_o has the accumulators before bias and quantizer: a difference there is the array's, one in c_o "
        "alone is the drain's"};
  }

 private:
  int rows_used(const Transaction& beat) const {
    int rows = 0;
    while (rows < array_.rows() && beat[Input::used].bit(rows)) ++rows;
    return rows;
  }
  static int scale_of(const Transaction& beat) {
    return stimulus::signed_byte(static_cast<std::uint32_t>(beat[Input::scale].value()));
  }

  void load_lanes(const Bits& seeds) {
    coverage_.hit(load_bin_);
    loaded_ = true;
    if (!array_.drain.rounding.stochastic()) return;
    zero_seed_ = false;
    for (int col = 0; col < array_.cols; ++col) {
      const auto seed = static_cast<std::uint32_t>(seeds.field(32 * col, 32));
      zero_seed_ = zero_seed_ || seed == 0;
      lanes_[col] = Lfsr(seed == 0 ? 1 : seed, leap_);
    }
    coverage_.hit_if(zero_seed_, zero_seed_bin_);
  }

  // The golden tile, row by row.
  void finish_tile(const Transaction& inputs) {
    const int rows = array_.rows();
    const auto k = static_cast<std::int64_t>(b_.size()) / array_.cols;
    rows_in_use_ = rows_used(inputs);
    std::vector<std::uint8_t> a(rows_in_use_ * k);
    for (std::int64_t i = 0; i < k; ++i) {
      for (int row = 0; row < rows_in_use_; ++row) a[row * k + i] = a_slices_[i * rows + row];
    }
    std::vector<float> bias;
    bias.reserve(array_.cols);
    for (int col = 0; col < array_.cols; ++col) {
      bias.push_back(fp32_value(static_cast<std::uint32_t>(inputs[Input::bias].field(32 * col, 32))));
    }
    array_.drain.scale = scale_of(inputs);
    const TileResult tile = mac_array(
        array_, {.m = rows_in_use_, .n = array_.cols, .k = k, .a = a, .b = b_, .bias = bias}, lanes_);
    sample(tile, a);
    for (int row = 0; row < rows; ++row) expect(output_row(tile, row), inputs);
    a_slices_.clear();
    b_.clear();
    steps_in_tile_ = 0;
    loaded_ = false;
  }

  Transaction output_row(const TileResult& tile, int row) {
    const int code_bits = array_.drain.to.bits();
    const int sum_bits = array_.accumulator.bits();
    Bits codes(array_.cols * code_bits);
    Bits flags(array_.cols * 5);
    Bits sums(array_.cols * sum_bits);
    for (int col = 0; col < array_.cols; ++col) {
      const int i = row * array_.cols + col;
      codes.set_field(col * code_bits, code_bits, tile.outputs[i].code);
      flags.set_field(col * 5, 5, tile.outputs[i].flags.bits());
      sums.set_field(col * sum_bits, sum_bits, tile.accumulators[i]);
      sum_bins_.sample(tile.accumulators[i]);
      c_bins_.sample(tile.outputs[i].code);
      flag_bins_.sample(tile.outputs[i].flags.bits());
    }
    return {codes,
            flags,
            Bits(1, row == array_.rows() - 1 ? 1 : 0),
            Bits(1, tile.suppressed != 0 ? 1 : 0),
            Bits(1, zero_seed_ ? 1 : 0),
            sums};
  }

  void sample(const TileResult& tile, const std::vector<std::uint8_t>& a) {
    const bool skip = array_.skip_window.skip;
    const auto k = static_cast<std::int64_t>(b_.size()) / array_.cols;
    coverage_.hit(skip ? skip_on_ : skip_off_);
    coverage_.hit(steps_in_tile_ == 1 ? one_step_ : steps_);
    coverage_.hit_if(rows_in_use_ == array_.rows(), all_rows_);
    coverage_.hit_if(rows_in_use_ < array_.rows(), unused_rows_);
    coverage_.hit_if(rows_in_use_ == 0, no_row_);
    coverage_.hit_if(!loaded_, more_tiles_);
    coverage_.hit_if(tile.suppressed != 0, suppressed_);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto slice = std::span(b_).subspan(i * array_.cols, array_.cols);
      if (std::none_of(slice.begin(), slice.end(),
                       [&](std::uint8_t code) { return array_.b.is_inf(code) || array_.b.is_nan(code); })) {
        continue;
      }
      coverage_.hit_if(skip && rows_in_use_ < array_.rows(), unused_zero_);
      for (int row = 0; row < rows_in_use_; ++row) {
        coverage_.hit_if(!skip && array_.a.is_zero(a[row * k + i]), multiplied_);
      }
    }
  }

  MacArray array_;
  int leap_;
  std::vector<Lfsr> lanes_;
  bool zero_seed_ = false;
  std::optional<TilePlan> plan_;
  std::uint64_t tiles_ = 0;  // begun by stimulus

  // The tile that is being taken in.
  std::vector<std::uint8_t> a_slices_;  // k-major
  std::vector<std::uint8_t> b_;
  int steps_in_tile_ = 0;
  int rows_in_use_ = 0;
  bool loaded_ = false;

  OperandBins a_bins_{coverage_, "a", array_.a};
  OperandBins b_bins_{coverage_, "b", array_.b};
  OperandBins sum_bins_{coverage_, "accumulator", array_.accumulator};
  OperandBins c_bins_{coverage_, "c", array_.drain.to};
  FlagBins flag_bins_{
      coverage_,
      {.invalid = !array_.drain.to.has_nan(), .overflow = true, .underflow = true, .inexact = true}};
  int skip_on_ = coverage_.declare("skipping on");
  int skip_off_ = coverage_.declare("skipping off");
  int one_step_ = coverage_.declare("tile of one step");
  int steps_ = coverage_.declare("tile of several steps");
  int suppressed_ = coverage_.declare("zero of A skipped against Inf or NaN");
  int multiplied_ = coverage_.declare("zero of A multiplied with Inf or NaN");
  int unused_zero_ = coverage_.declare("unused row against Inf or NaN");
  int all_rows_ = coverage_.declare("all rows in use");
  int unused_rows_ = coverage_.declare("unused rows");
  int no_row_ = coverage_.declare("no row in use");
  int zero_seed_bin_ = coverage_.declare("seed 0");
  int load_bin_ = coverage_.declare("lanes loaded");
  int more_tiles_ = coverage_.declare("tile without a load before it");
};

// A 4 x 4 array.
UnitParameters formats_of(const Format& a, const Format& b, const Format& c) {
  UnitParameters parameters = array_size(4, 4);
  for (const auto& [prefix, format] : {std::pair("A", a), std::pair("B", b), std::pair("C", c)}) {
    for (const char* field : {"Exp", "Man", "Bias", "Specials"})
      parameters.set(std::string(prefix) + field, 0);
    parameters.set_format(prefix, format);
  }
  return parameters;
}

}  // namespace

UnitKind mac_array_kind() {
  const int sr = static_cast<int>(Rounding::Mode::sr);
  return {
      .name = "mac_array",
      .module = "mac_array",
      .what = "output-stationary array with skip window, staged operands, bias and drain quantizers",
      .section = "4, 7",
      .latency = "skip_window's; a drain takes Rows + PipeLatency cycles, PipeLatency = 1 + QuantStages",
      .parameters = joined({{{"Rows", 16, "rows"},
                             {"Cols", 16, "columns, and lanes of the drain"},
                             {"Window", 16, "k per window, at least 2"},
                             {"Depth", 2, "windows staged at a time"},
                             {"Port", 4, "k-slices per beat, at most Window"}},
                            format_notes("A", "A", true),
                            format_notes("B", "B"),
                            {{"AccExp", 8, "exponent bits of the accumulator, at most 8"},
                             {"AccMan", 23, "mantissa bits of the accumulator, at most 23"}},
                            format_notes("C", "the output"),
                            {{"CRound", 0, "rounding of the drain: " + rounding_numbers()},
                             {"CRndBits", 0, "random bits of a stochastic drain"},
                             {"CSaturate", 0, "overflow of the drain gives the largest finite number"},
                             {"Leap", 16, "steps per draw of the lanes' generators"},
                             {"QuantStages", 1, "registers in the drain quantizers, 0 or 1"}}}),
      .ports = {{"a_i", "Port*Rows*AW", "slice p, row r at p*Rows+r"},
                {"b_i", "Port*Cols*BW", "slice p, column c at p*Cols+c"},
                {"count_i", "$clog2(Port+1)",
                 "slices in this beat; only the last beat of a window may be short"},
                {"used_i", "Rows", "rows in use, the same for all beats of a tile; the others hold zeros"},
                {"skip_i", "1", "off: zeros of A are multiplied like everything else"},
                {"last_i", "1", "this beat ends the step"},
                {"drain_i", "1", "with last_i: and the step its tile"},
                {"bias_i", "32*Cols", "with last_i: FP32, +0 for none"},
                {"scale_i", "8", "with last_i: exponent of the drain quantizer's scale, signed"},
                {"load_i", "1",
                 "with a beat: the lanes' generators take their seeds, before the first stochastic drain"},
                {"seed_i", "32*Cols", "with load_i; 0 becomes 1"},
                {"c_o", "Cols*CW", "one row of the tile, rows ascending"},
                {"flags_o", "Cols*5", "of the drain quantizers"},
                {"last_o", "1", "this row ends the tile"},
                {"suppressed_o", "1", "in this tile a zero of A was skipped against Inf or NaN in B"},
                {"zero_seed_o", "1", "at the last load a seed was 0"},
                {"tap_o", "Cols*AccW", "the row's accumulators, before bias and quantizer"}},
      .configurations = with_ties(
          {{"2x2", array_size(2, 2).with({{"Window", 4}, {"Port", 2}})},
           // Sums without a mantissa.
           {"2x2 e8m0", array_size(2, 2).with({{"Window", 4}, {"Port", 2}, {"AccMan", 0}})},
           {"4x4", array_size(4, 4)},
           {"4x8 sr", array_size(4, 8).with({{"CRound", sr}, {"CRndBits", 8}})},
           {"4x4 e4m3", formats_of(formats::e4m3, formats::e4m3, formats::e4m3)
                            .with({{"Depth", 4}, {"Port", 3}, {"CSaturate", 1}, {"QuantStages", 0}})},
           {"4x4 fp16", array_size(4, 4).with({{"Depth", 1}, {"Port", 16}, {"AccExp", 5}, {"AccMan", 10}})},
           // Sums that leave FP32's normal numbers at both ends.
           {"4x4 e7m0", formats_of(Format::parse("e7m0"), Format::parse("e7m0:bias=66"), formats::fp16)},
           {"8x8", array_size(8, 8).with({{"Depth", 4}, {"Port", 8}}), false},
           {"16x16", {}, false}},
          {"2x2", array_size(2, 2).with({{"Window", 4}, {"Port", 2}})}, "CRound"),
      .systemc = make_mac_array,
      .reference = [](const UnitParameters& p) { return std::make_unique<MacArrayReference>(p); },
      .optional_outputs = {"tap_o"},
      .default_transactions = 20000,
      // One entry per elaborated module: the other configurations must reach the line in theirs.
      .exclusions = {{.instance = "gen_lane[*].u_lane.u_widen",
                      .module = "fp_to_fp32__E8_M0",
                      .line = "else if (inf)",
                      .reason = "an accumulator without a mantissa has no Inf"}},
  };
}

}  // namespace mantissa::verify
