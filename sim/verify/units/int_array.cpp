// int_array: tiles of all shapes, cut into steps, windows and beats; what drains are the golden tile's sums.

#include <optional>

#include "sim/units/skip_window.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/verify/units/integer_draw.hpp"
#include "sim/verify/units/tile_cut.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

// One tile's beats.
class IntTilePlan {
 public:
  // The input ports in the order of a beat.
  enum Input : std::uint8_t { a, b, count, used, skip, last, drain };

  IntTilePlan(const IntArray& array, std::uint64_t number, stimulus::Dice& dice)
      : array_(array), cut_(array.skip_window, array.cols, number, dice), integers_(dice) {
    if (number != 1) return;
    // The largest sums.
    integers_.large = true;
    cut_.density = 8;
    cut_.fill(array.skip_window.window * (array.skip_window.depth + 2));
  }

  static IntTilePlan dense(const IntArray& array, int k, stimulus::Dice& dice) {
    IntTilePlan plan(array, 0, dice);
    plan.cut_.fill(k);
    plan.cut_.density = 8;
    return plan;
  }

  bool finished() const { return cut_.finished(); }

  Transaction beat(stimulus::Dice& dice) {
    const TileCut::Beat cut = cut_.next();
    // What rows that are not in use hold does not count; columns have no such port and hold zeros.
    const Bits a_bits = matrix(dice, array_.rows(), array_.rows(), array_.a_bits, cut_.density);
    const Bits b_bits = matrix(dice, array_.cols, cut_.cols, array_.b_bits, 8);
    // drain_i counts in the last beat of a step only.
    return {a_bits,
            b_bits,
            Bits(slice_count_bits(array_.skip_window), cut.slices),
            Bits(array_.rows(), (std::uint64_t{1} << cut_.rows) - 1),
            Bits(1, cut_.skip ? 1 : 0),
            Bits(1, cut.ends_step ? 1 : 0),
            Bits(1, cut.ends_step ? (cut.ends_tile ? 1 : 0) : dice.bits(1))};
  }

 private:
  Bits matrix(stimulus::Dice& dice, int elements, int in_use, int width, std::uint64_t density) const {
    const int all = array_.skip_window.port * elements;
    Bits bits(all * width);
    for (int i = 0; i < all; ++i) {
      const std::uint32_t value = integers_.integer(dice, width, density);
      if (i % elements < in_use) bits.set_field(i * width, width, value);
    }
    return bits;
  }

  const IntArray& array_;
  TileCut cut_;
  IntegerDraw integers_;
};

class IntArrayReference : public Reference {
  using Input = IntTilePlan::Input;

 public:
  explicit IntArrayReference(const UnitParameters& parameters) : array_(int_array_config(parameters)) {
    const SkipWindow& window = array_.skip_window;
    const std::uint64_t longest = static_cast<std::uint64_t>(window.window) * (window.depth + 2);
    if (longest << (array_.a_bits + array_.b_bits) <= std::uint64_t{1} << array_.acc_bits) {
      coverage_.exclude("sum wraps", "no tile of this run is long enough");
    }
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished()) plan_.emplace(array_, tiles_++, dice);
    return plan_->beat(dice);
  }

  Transaction busy_stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished()) plan_.emplace(IntTilePlan::dense(array_, 256, dice));
    return plan_->beat(dice);
  }

  // Without valid nothing is looked at.
  Transaction idle(stimulus::Dice& dice) override {
    IntTilePlan nonsense(array_, dice.next(), dice);
    return nonsense.beat(dice);
  }

  std::uint64_t operations(const Transaction& inputs) const override {
    return inputs[Input::count].value() * array_.rows() * array_.cols;
  }

  void accept(const Transaction& inputs) override {
    const auto slices = static_cast<int>(inputs[Input::count].value());
    for (int i = 0; i < slices * array_.rows(); ++i) {
      a_slices_.push_back(element(inputs[Input::a], i, array_.a_bits, a_zero_, a_largest_));
    }
    for (int i = 0; i < slices * array_.cols; ++i) {
      b_.push_back(element(inputs[Input::b], i, array_.b_bits, b_zero_, b_largest_));
    }
    array_.skip_window.skip = inputs[Input::skip].value() != 0;
    if (inputs[Input::last].value() == 0) return;
    if (inputs[Input::drain].value() != 0) {
      finish_tile(inputs);
    } else {
      k_before_last_step_ = slices_taken();
    }
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"tile of " + std::to_string(rows_used(cause)) + " rows in use, skipping " +
            (cause[Input::skip].value() != 0 ? "on" : "off")};
  }

 private:
  std::uint16_t element(const Bits& bits, int index, int width, int zero, int largest) {
    const auto value = static_cast<std::uint16_t>(bits.field(index * width, width));
    coverage_.hit_if(value == 0, zero);
    coverage_.hit_if(value == (1U << width) - 1, largest);
    return value;
  }

  std::int64_t slices_taken() const { return static_cast<std::int64_t>(b_.size()) / array_.cols; }

  int rows_used(const Transaction& beat) const {
    int rows = 0;
    while (rows < array_.rows() && beat[Input::used].bit(rows)) ++rows;
    return rows;
  }

  // The golden tile over the first k slices.
  IntTileResult golden(int rows_in_use, std::int64_t k) const {
    std::vector<std::uint16_t> rows(rows_in_use * k);
    for (std::int64_t i = 0; i < k; ++i) {
      for (int row = 0; row < rows_in_use; ++row) rows[row * k + i] = a_slices_[i * array_.rows() + row];
    }
    return int_array(
        array_,
        {.m = rows_in_use, .n = array_.cols, .k = k, .a = rows, .b = std::span(b_).first(k * array_.cols)});
  }

  void finish_tile(const Transaction& inputs) {
    const int rows_in_use = rows_used(inputs);
    const IntTileResult tile = golden(rows_in_use, slices_taken());
    sample(tile, rows_in_use);
    for (int row = 0; row < array_.rows(); ++row) {
      Bits sums(array_.cols * array_.acc_bits);
      for (int col = 0; col < array_.cols; ++col) {
        sums.set_field(col * array_.acc_bits, array_.acc_bits, tile.sums[row * array_.cols + col]);
      }
      expect({sums, Bits(1, row == array_.rows() - 1 ? 1 : 0), Bits(1, tile.overflow ? 1 : 0)}, inputs);
    }
    a_slices_.clear();
    b_.clear();
    k_before_last_step_ = 0;
    wrapped_before_ = tile.overflow;
  }

  void sample(const IntTileResult& tile, int rows_in_use) {
    const bool skipping = array_.skip_window.skip;
    coverage_.hit(skipping ? skip_on_ : skip_off_);
    coverage_.hit(k_before_last_step_ == 0 ? one_step_ : steps_);
    coverage_.hit_if(rows_in_use == array_.rows(), all_rows_);
    coverage_.hit_if(rows_in_use == 0, no_row_);
    for (std::int64_t i = 0; i < slices_taken(); ++i) {
      for (int row = rows_in_use; row < array_.rows(); ++row) {
        coverage_.hit_if(a_slices_[i * array_.rows() + row] != 0, skipping ? idle_skipped_ : idle_dense_);
      }
    }
    coverage_.hit(tile.overflow ? wraps_ : fits_);
    coverage_.hit_if(k_before_last_step_ > 0 && golden(rows_in_use, k_before_last_step_).overflow,
                     wraps_early_);
    coverage_.hit_if(wrapped_before_ && !tile.overflow, fits_again_);
  }

  IntArray array_;
  std::optional<IntTilePlan> plan_;
  std::uint64_t tiles_ = 0;  // begun by stimulus

  // The tile that is being taken in.
  std::vector<std::uint16_t> a_slices_;  // k-major
  std::vector<std::uint16_t> b_;
  std::int64_t k_before_last_step_ = 0;
  bool wrapped_before_ = false;  // the tile before it

  int a_zero_ = coverage_.declare("a zero");
  int a_largest_ = coverage_.declare("a largest");
  int b_zero_ = coverage_.declare("b zero");
  int b_largest_ = coverage_.declare("b largest");
  int skip_on_ = coverage_.declare("skipping on");
  int skip_off_ = coverage_.declare("skipping off");
  int one_step_ = coverage_.declare("tile of one step");
  int steps_ = coverage_.declare("tile of several steps");
  int all_rows_ = coverage_.declare("all rows in use");
  int no_row_ = coverage_.declare("no row in use");
  int idle_skipped_ = coverage_.declare("unused row holds values, skipping on");
  int idle_dense_ = coverage_.declare("unused row holds values, skipping off");
  int fits_ = coverage_.declare("no sum wraps");
  int wraps_ = coverage_.declare("sum wraps");
  int wraps_early_ = coverage_.declare("sum wraps in a step before the last");
  int fits_again_ = coverage_.declare("sum wraps not in the tile after one that did");
};

}  // namespace

UnitKind int_array_kind() {
  return {
      .name = "int_array",
      .module = "int_array",
      .what = "output-stationary array of integers with skip window and staged operands; exact sums",
      .section = "4, 5, 7",
      .latency = "mac_array's; PipeLatency = 1 + DrainStages",
      .parameters = {{"Rows", 16, "rows"},
                     {"Cols", 16, "columns"},
                     {"Window", 16, "k per window, at least 2"},
                     {"Depth", 2, "windows staged at a time"},
                     {"Port", 4, "k-slices per beat, at most Window"},
                     {"ABits", 8, "bits of A: 8 or 16"},
                     {"BBits", 8, "bits of B: 8 or 16; not both 16"},
                     {"AccBits", 48, "bits of a sum: a product's to 48"},
                     {"DrainStages", 1, "registers behind the sums, 0 or 1"}},
      .ports = {{"a_i", "Port*Rows*ABits", "slice p, row r at p*Rows+r"},
                {"b_i", "Port*Cols*BBits", "slice p, column c at p*Cols+c"},
                {"count_i", "$clog2(Port+1)",
                 "slices in this beat; only the last beat of a window may be short"},
                {"used_i", "Rows", "rows in use, the same for all beats of a tile; the others take nothing"},
                {"skip_i", "1", "off: zeros of A are multiplied like everything else"},
                {"last_i", "1", "this beat ends the step"},
                {"drain_i", "1", "with last_i: and the step its tile"},
                {"c_o", "Cols*AccBits", "one row of the tile's sums, rows ascending"},
                {"last_o", "1", "this row ends the tile"},
                {"overflow_o", "1", "a sum of this tile wrapped"}},
      // Sums of 48 bits stay small in a run; narrow ones wrap, and every bit of them changes.
      .configurations =
          {{"2x2", array_size(2, 2).with({{"Window", 4}, {"Port", 2}, {"AccBits", 17}})},
           {"4x4 8x8", array_size(4, 4), false},
           {"4x4 8x16", array_size(4, 4).with({{"BBits", 16}, {"Depth", 4}, {"Port", 3}, {"DrainStages", 0}}),
            false},
           {"4x4 16x8", array_size(4, 4).with({{"ABits", 16}, {"Depth", 1}, {"Port", 16}, {"AccBits", 26}})},
           {"16x16", {}, false}},
      .systemc = make_int_array,
      .reference = [](const UnitParameters& p) { return std::make_unique<IntArrayReference>(p); },
      .default_transactions = 20000,
  };
}

}  // namespace mantissa::verify
