// block_array: tiles of one run or several, whose sums are exchanged; what leaves are the golden sums.

#include <algorithm>
#include <deque>

#include "sim/units/unit_configs.hpp"
#include "sim/verify/operand_bins.hpp"
#include "sim/verify/units/block_array_tiles.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {
namespace {

class BlockArrayReference : public Reference {
  using Input = BlockTilePlan::Input;
  using Codes = std::vector<std::uint8_t>;

 public:
  explicit BlockArrayReference(const UnitParameters& parameters)
      : array_(block_array_config(parameters)), sums_(array_), pool_(array_) {
    if (!array_.b.has_inf() && !array_.b.has_nan()) {
      for (const char* name : {"zero of A", "unused row against", "disabled column against"})
        coverage_.exclude(name, "B has neither Inf nor NaN");
    }
    exclude_sums(coverage_, "sum", array_.a, array_.b, array_.accumulator);
    exclude_sums(coverage_, "loaded", array_.a, array_.b, array_.accumulator);
    if (array_.exchange_cycles() == 1) {
      coverage_.exclude("rows loaded and rows cleared", "all rows are exchanged in one cycle");
    }
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    ++cycle_;
    if (!plan_ || plan_->finished()) plan_.emplace(array_, tiles_++, dice);
    Transaction beat = plan_->beat(dice);
    pool_.offer(beat, dice);
    return beat;
  }

  Transaction busy_stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished()) plan_.emplace(BlockTilePlan::dense(array_, 256, dice));
    return plan_->beat(dice);
  }

  // Without valid only what is loaded counts.
  Transaction idle(stimulus::Dice& dice) override {
    ++cycle_;
    BlockTilePlan nonsense(array_, dice.next(), dice);
    Transaction beat = nonsense.beat(dice);
    pool_.offer(beat, dice);
    return beat;
  }

  bool offer_again(Transaction& inputs, stimulus::Dice& dice) override {
    ++cycle_;
    pool_.offer(inputs, dice);
    return true;
  }

  std::uint64_t operations(const Transaction& inputs) const override {
    return inputs[Input::count].value() * array_.rows() * array_.cols;
  }

  void accept(const Transaction& inputs) override {
    const auto slices = static_cast<int>(inputs[Input::count].value());
    append(run_.a, inputs[Input::a], slices * array_.rows(), array_.a, a_bins_);
    append(run_.b, inputs[Input::b], slices * array_.cols, array_.b, b_bins_);
    if (inputs[Input::last].value() == 0) return;
    run_.used_rows = bytes(inputs[Input::used]);
    run_.enabled_cols = bytes(inputs[Input::cols]);
    run_.skip = inputs[Input::skip].value() != 0;
    tile_.runs.push_back(std::move(run_));
    run_ = {};
    if (inputs[Input::swap].value() == 0) return;
    tile_.cause = inputs;
    computed_.push_back(std::move(tile_));
    tile_ = {};
  }

  // A tile's sums start from what was loaded, the last of it perhaps in the cycle of its first beat: they are
  // computed when they are due.
  std::optional<Expected> next() override {
    if (drained()) return std::nullopt;
    if (row_ == array_.rows()) compute();
    Transaction rows = output_rows();
    given_from_ = row_;
    row_ = std::min(row_ + array_.sum_rows, array_.rows());
    return Expected{std::move(rows), cause_};
  }

  void given(const Transaction& inputs) override {
    const int cols = array_.cols;
    const int bits = array_.accumulator.bits();
    const bool load = inputs[Input::load].value() != 0;
    if (given_from_ == 0) {
      coverage_.hit_if(before_ != 0, cycle_ == before_ + 2 ? at_once_ : later_);
    } else {
      coverage_.hit_if(load != loaded_before_, mixed_);
    }
    loaded_before_ = load;
    before_ = cycle_;
    coverage_.hit(load ? load_ : no_load_);
    for (int row = given_from_; row < row_; ++row) {
      std::vector<std::uint32_t> sums;
      for (int col = 0; col < cols && load; ++col) {
        const int place = (row - given_from_) * cols + col;
        sums.push_back(static_cast<std::uint32_t>(inputs[Input::sum].field(place * bits, bits)));
        loaded_bins_.sample(sums.back());
      }
      sums_.load(row, sums);
    }
  }

  bool drained() const override { return computed_.empty() && row_ == array_.rows(); }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"tile whose last run has rows " + cause[Input::used].hex() + " in use and columns " +
            cause[Input::cols].hex() + " enabled, skipping " +
            (cause[Input::skip].value() != 0 ? "on" : "off")};
  }

 private:
  struct Run {
    Codes a;  // [k, rows]
    Codes b;  // [k, cols]
    Codes used_rows;
    Codes enabled_cols;
    bool skip = false;
  };
  struct Tile {
    std::vector<Run> runs;
    Transaction cause;
  };

  static void append(Codes& all, const Bits& bits, int count, const Format& format, OperandBins& bins) {
    for (int i = 0; i < count; ++i) {
      all.push_back(static_cast<std::uint8_t>(bits.field(i * format.bits(), format.bits())));
      bins.sample(all.back());
    }
  }

  static Codes bytes(const Bits& mask) {
    Codes bytes(mask.width());
    mask.fields(0, 1, bytes);
    return bytes;
  }

  void compute() {
    const Tile tile = std::move(computed_.front());
    computed_.pop_front();
    coverage_.hit(tile.runs.size() == 1 ? one_run_ : runs_);
    coverage_.hit_if(std::any_of(sums_.working().begin(), sums_.working().end(),
                                 [](std::uint32_t sum) { return sum != 0; }),
                     continued_);
    for (const Run& run : tile.runs) add(run);
    const bool suppressed_before = sums_.shadow_suppressed() != 0;
    sums_.swap();
    const bool suppressed = sums_.shadow_suppressed() != 0;
    coverage_.hit_if(suppressed, suppressed_);
    coverage_.hit_if(suppressed_before && !suppressed, not_suppressed_);
    stimulus::Dice dice(cycle_, 0);
    for (const std::uint32_t sum : sums_.shadow()) {
      sum_bins_.sample(sum);
      pool_.put(sum, dice);
    }
    cause_ = tile.cause;
    row_ = 0;
  }

  void add(const Run& run) {
    const int rows = array_.rows();
    const auto k = static_cast<std::int64_t>(run.b.size()) / array_.cols;
    Codes a(run.a.size());
    for (std::int64_t i = 0; i < k; ++i) {
      for (int row = 0; row < rows; ++row) a[row * k + i] = run.a[i * rows + row];
    }
    sums_.run({.k = k,
               .a = a,
               .b = run.b,
               .used_rows = run.used_rows,
               .enabled_cols = run.enabled_cols,
               .skip = run.skip});
    sample(run, k);
  }

  void sample(const Run& run, std::int64_t k) {
    const auto rows = std::count(run.used_rows.begin(), run.used_rows.end(), 1);
    const auto cols = std::count(run.enabled_cols.begin(), run.enabled_cols.end(), 1);
    coverage_.hit(run.skip ? skip_on_ : skip_off_);
    coverage_.hit(rows == array_.rows() ? all_rows_ : rows == 0 ? no_row_ : some_rows_);
    coverage_.hit(cols == array_.cols ? all_cols_ : cols == 0 ? no_col_ : some_cols_);
    for (std::int64_t i = 0; i < k; ++i) {
      bool special = false;
      for (int col = 0; col < array_.cols; ++col) {
        const std::uint8_t code = run.b[i * array_.cols + col];
        if (!array_.b.is_inf(code) && !array_.b.is_nan(code)) continue;
        if (run.enabled_cols[col] != 0) special = true;
        coverage_.hit_if(run.enabled_cols[col] == 0 && rows > 0, disabled_special_);
      }
      for (int row = 0; row < array_.rows(); ++row) {
        const bool zero = array_.a.is_zero(run.a[i * array_.rows() + row]);
        const bool used = run.used_rows[row] != 0;
        coverage_.hit_if(!used && !zero, run.skip ? idle_skipped_ : idle_dense_);
        coverage_.hit_if(special && !used && zero && run.skip, unused_special_);
        coverage_.hit_if(special && used && zero && !run.skip, multiplied_);
      }
    }
  }

  Transaction output_rows() const {
    const int bits = array_.accumulator.bits();
    Bits rows(array_.sum_rows * array_.cols * bits);
    const auto sums = sums_.shadow().subspan(static_cast<std::size_t>(row_) * array_.cols);
    for (int i = 0; i < array_.sum_rows * array_.cols && i < static_cast<int>(sums.size()); ++i)
      rows.set_field(i * bits, bits, sums[i]);
    return {rows, Bits(1, row_ + array_.sum_rows >= array_.rows() ? 1 : 0),
            Bits(1, sums_.shadow_suppressed() != 0 ? 1 : 0)};
  }

  BlockArray array_;
  BlockSums sums_;
  SumPool pool_;
  std::optional<BlockTilePlan> plan_;
  std::uint64_t tiles_ = 0;  // begun by stimulus
  std::uint64_t cycle_ = 0;

  Run run_;                    // that is being taken in
  Tile tile_;                  // its runs before that one
  std::deque<Tile> computed_;  // whose rows are all still to come
  Transaction cause_;          // of the rows that come now
  int row_ = array_.rows();    // the next of them
  int given_from_ = 0;         // the first of those that came last
  std::uint64_t before_ = 0;   // the cycle in which they came
  bool loaded_before_ = false;

  OperandBins a_bins_{coverage_, "a", array_.a};
  OperandBins b_bins_{coverage_, "b", array_.b};
  OperandBins sum_bins_{coverage_, "sum", array_.accumulator};
  OperandBins loaded_bins_{coverage_, "loaded", array_.accumulator};
  int skip_on_ = coverage_.declare("skipping on");
  int skip_off_ = coverage_.declare("skipping off");
  int one_run_ = coverage_.declare("tile of one run");
  int runs_ = coverage_.declare("tile of several runs");
  int continued_ = coverage_.declare("tile on loaded sums");
  int suppressed_ = coverage_.declare("zero of A skipped against Inf or NaN");
  int not_suppressed_ = coverage_.declare("zero of A no longer skipped so in the next tile");
  int multiplied_ = coverage_.declare("zero of A multiplied with Inf or NaN");
  int unused_special_ = coverage_.declare("unused row against Inf or NaN");
  int disabled_special_ = coverage_.declare("disabled column against Inf or NaN");
  int all_rows_ = coverage_.declare("all rows in use");
  int some_rows_ = coverage_.declare("some rows in use");
  int no_row_ = coverage_.declare("no row in use");
  int all_cols_ = coverage_.declare("all columns enabled");
  int some_cols_ = coverage_.declare("some columns enabled");
  int no_col_ = coverage_.declare("no column enabled");
  int idle_skipped_ = coverage_.declare("unused row holds values, skipping on");
  int idle_dense_ = coverage_.declare("unused row holds values, skipping off");
  int load_ = coverage_.declare("rows loaded");
  int no_load_ = coverage_.declare("rows cleared");
  int mixed_ = coverage_.declare("rows loaded and rows cleared in one exchange");
  int at_once_ = coverage_.declare("exchange as soon as the one before is over");
  int later_ = coverage_.declare("exchange after a pause");
};

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
      .parameters = joined({{{"Rows", 16, "rows"},
                             {"Cols", 16, "columns"},
                             {"Window", 16, "k per window, at least 2"},
                             {"Depth", 2, "windows staged at a time"},
                             {"Port", 4, "k-slices per beat, at most Window"}},
                            format_notes("A", "A", true),
                            format_notes("B", "B"),
                            {{"AccExp", 8, "exponent bits of the accumulator, at most 8"},
                             {"AccMan", 23, "mantissa bits of the accumulator, at most 23"},
                             {"SumRows", 1, "rows of sums that are exchanged in a cycle, 1 to Rows"}}}),
      .ports =
          {{"a_i", "Port*Rows*AW", "slice p, row r at p*Rows+r"},
           {"b_i", "Port*Cols*BW", "slice p, column c at p*Cols+c"},
           {"count_i", "$clog2(Port+1)", "slices in this beat; only the last beat of a window may be short"},
           {"used_i", "Rows", "rows in use, the same for all beats of a run; the others hold their sums"},
           {"skip_i", "1", "off: zeros of A are multiplied like everything else"},
           {"last_i", "1", "this beat ends the run"},
           {"cols_i", "Cols", "columns enabled, the same for all beats of a run; the others hold their sums"},
           {"swap_i", "1",
            "with last_i: and the run its tile; without it the next run adds to the same sums"},
           {"load_i", "1", "with valid_o: the rows on sum_o take sum_i; off: +0"},
           {"sum_i", "SumRows*Cols*AccW", "with load_i: sums that such an array has given"},
           {"sum_o", "SumRows*Cols*AccW",
            "the tile's next SumRows rows, ascending; row p of them, column c at p*Cols+c; +0 beyond the "
            "last"},
           {"last_o", "1", "these end the tile"},
           {"suppressed_o", "1", "in this tile a zero of A was skipped against Inf or NaN in B"}},
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
      .reference = [](const UnitParameters& p) { return std::make_unique<BlockArrayReference>(p); },
      .default_transactions = 20000,
      .back_pressure = false,
  };
}

}  // namespace mantissa::verify
