// What the benches of the arrays with two sets of sums share: tiles of one run or several, whose sums are
// exchanged; what leaves are the golden sums.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/array/two_sets.hpp"
#include "sim/verify/reference.hpp"
#include "sim/verify/unit_kind.hpp"
#include "sim/verify/units/block_array_tiles.hpp"

namespace mantissa::verify {

// `Kind` knows elements and sums: types Element, Sum and Sums (the golden array), `array`, a_bits(),
// b_bits(), elements() and dense_elements(), corners() and reusable() of the pool, what a tile has to report
// with event(), and its own bins.
template <class Kind>
class BlockReference : public Reference {
  using Input = BlockTilePlan::Input;
  using Element = typename Kind::Element;
  using Sum = typename Kind::Sum;
  using Flags = std::vector<std::uint8_t>;

 public:
  explicit BlockReference(const UnitParameters& parameters)
      : kind_(parameters, coverage_),
        shape_{.skip_window = kind_.array.skip_window,
               .cols = kind_.array.cols,
               .sum_rows = kind_.array.sum_rows,
               .sum_bits = kind_.array.sum_bits()},
        sums_(kind_.array),
        pool_(shape_.sum_bits, kind_.corners()),
        row_(shape_.rows()) {
    if (kind_.array.exchange_cycles() == 1)
      coverage_.exclude("rows loaded and rows cleared", "all rows are exchanged in one cycle");
  }

  Transaction stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    ++cycle_;
    if (!plan_ || plan_->finished()) {
      plan_.emplace(shape_, tiles_, dice, kind_.elements(tiles_, dice));
      ++tiles_;
    }
    Transaction beat = plan_->beat(dice);
    pool_.offer(beat, dice);
    return beat;
  }

  Transaction busy_stimulus(std::uint64_t /*index*/, stimulus::Dice& dice) override {
    if (!plan_ || plan_->finished())
      plan_.emplace(BlockTilePlan::dense(shape_, 256, dice, kind_.dense_elements(dice)));
    return plan_->beat(dice);
  }

  // Without valid only what is loaded counts.
  Transaction idle(stimulus::Dice& dice) override {
    ++cycle_;
    const std::uint64_t number = dice.next();
    BlockTilePlan nonsense(shape_, number, dice, kind_.elements(number, dice));
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
    return inputs[Input::count].value() * shape_.rows() * shape_.cols;
  }

  void accept(const Transaction& inputs) override {
    const auto slices = static_cast<int>(inputs[Input::count].value());
    for (int i = 0; i < slices * shape_.rows(); ++i) {
      run_.a.push_back(static_cast<Element>(inputs[Input::a].field(i * kind_.a_bits(), kind_.a_bits())));
      kind_.sample_a(run_.a.back());
    }
    for (int i = 0; i < slices * shape_.cols; ++i) {
      run_.b.push_back(static_cast<Element>(inputs[Input::b].field(i * kind_.b_bits(), kind_.b_bits())));
      kind_.sample_b(run_.b.back());
    }
    if (inputs[Input::last].value() == 0) return;
    run_.used_rows = flags(inputs[Input::used]);
    run_.enabled_cols = flags(inputs[Input::cols]);
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
    if (row_ == shape_.rows()) compute();
    Transaction rows = output_rows();
    given_from_ = row_;
    row_ = std::min(row_ + shape_.sum_rows, shape_.rows());
    return Expected{std::move(rows), cause_};
  }

  void given(const Transaction& inputs) override {
    const int bits = shape_.sum_bits;
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
      std::vector<Sum> sums;
      for (int col = 0; col < shape_.cols && load; ++col) {
        const int place = (row - given_from_) * shape_.cols + col;
        sums.push_back(static_cast<Sum>(inputs[Input::sum].field(place * bits, bits)));
        kind_.sample_loaded(sums.back());
      }
      sums_.load(row, sums);
    }
  }

  bool drained() const override { return computed_.empty() && row_ == shape_.rows(); }

  std::vector<std::string> explain(const Transaction& cause) const override {
    return {"tile whose last run has rows " + cause[Input::used].hex() + " in use and columns " +
            cause[Input::cols].hex() + " enabled, skipping " +
            (cause[Input::skip].value() != 0 ? "on" : "off")};
  }

 private:
  struct Run {
    std::vector<Element> a;  // [k, rows]
    std::vector<Element> b;  // [k, cols]
    Flags used_rows;
    Flags enabled_cols;
    bool skip = false;
  };
  struct Tile {
    std::vector<Run> runs;
    Transaction cause;
  };

  static Flags flags(const Bits& mask) {
    Flags flags(mask.width());
    mask.fields(0, 1, flags);
    return flags;
  }

  void compute() {
    const Tile tile = std::move(computed_.front());
    computed_.pop_front();
    coverage_.hit(tile.runs.size() == 1 ? one_run_ : runs_);
    coverage_.hit_if(
        std::any_of(sums_.working().begin(), sums_.working().end(), [](Sum sum) { return sum != 0; }),
        continued_);
    for (const Run& run : tile.runs) add(run);
    const bool before = Kind::event(sums_);
    sums_.swap();
    kind_.sample_event(Kind::event(sums_), before);
    stimulus::Dice dice(cycle_, 0);
    for (const Sum sum : sums_.shadow()) {
      kind_.sample_sum(sum);
      if (kind_.reusable(sum)) pool_.put(sum, dice);
    }
    cause_ = tile.cause;
    row_ = 0;
  }

  void add(const Run& run) {
    const int rows = shape_.rows();
    const auto k = static_cast<std::int64_t>(run.b.size()) / shape_.cols;
    std::vector<Element> a(run.a.size());
    for (std::int64_t i = 0; i < k; ++i) {
      for (int row = 0; row < rows; ++row) a[row * k + i] = run.a[i * rows + row];
    }
    const ArrayRunOf<Element> golden{.k = k,
                                     .a = a,
                                     .b = run.b,
                                     .used_rows = run.used_rows,
                                     .enabled_cols = run.enabled_cols,
                                     .skip = run.skip};
    sums_.run(golden);
    sample(golden);
    kind_.sample_run(golden);
  }

  void sample(const ArrayRunOf<Element>& run) {
    const auto rows = std::count(run.used_rows.begin(), run.used_rows.end(), 1);
    const auto cols = std::count(run.enabled_cols.begin(), run.enabled_cols.end(), 1);
    coverage_.hit(run.skip ? skip_on_ : skip_off_);
    coverage_.hit(rows == shape_.rows() ? all_rows_ : rows == 0 ? no_row_ : some_rows_);
    coverage_.hit(cols == shape_.cols ? all_cols_ : cols == 0 ? no_col_ : some_cols_);
    for (int row = 0; row < shape_.rows(); ++row) {
      if (run.used_rows[row] != 0) continue;
      for (std::int64_t i = 0; i < run.k; ++i)
        coverage_.hit_if(!kind_.is_zero(run.a[row * run.k + i]), run.skip ? idle_skipped_ : idle_dense_);
    }
  }

  Transaction output_rows() const {
    const int bits = shape_.sum_bits;
    Bits rows(shape_.sum_rows * shape_.cols * bits);
    const auto sums = sums_.shadow().subspan(static_cast<std::size_t>(row_) * shape_.cols);
    for (int i = 0; i < shape_.sum_rows * shape_.cols && i < static_cast<int>(sums.size()); ++i)
      rows.set_field(i * bits, bits, sums[i]);
    return {rows, Bits(1, row_ + shape_.sum_rows >= shape_.rows() ? 1 : 0),
            Bits(1, Kind::event(sums_) ? 1 : 0)};
  }

  Kind kind_;
  ExchangeShape shape_;
  typename Kind::Sums sums_;
  SumPool pool_;
  std::optional<BlockTilePlan> plan_;
  std::uint64_t tiles_ = 0;  // begun by stimulus
  std::uint64_t cycle_ = 0;

  Run run_;                    // that is being taken in
  Tile tile_;                  // its runs before that one
  std::deque<Tile> computed_;  // whose rows are all still to come
  Transaction cause_;          // of the rows that come now
  int row_;                    // the next of them
  int given_from_ = 0;         // the first of those that came last
  std::uint64_t before_ = 0;   // the cycle in which they came
  bool loaded_before_ = false;

  int skip_on_ = coverage_.declare("skipping on");
  int skip_off_ = coverage_.declare("skipping off");
  int one_run_ = coverage_.declare("tile of one run");
  int runs_ = coverage_.declare("tile of several runs");
  int continued_ = coverage_.declare("tile on loaded sums");
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

// What these arrays have in common in their documents; widths are text.
struct BlockPortNotes {
  std::string a;
  std::string b;
  std::string sums;
  std::string zero;
  PortNote event;
};
std::vector<ParameterNote> block_array_parameter_notes(const std::vector<ParameterNote>& operands);
std::vector<PortNote> block_array_ports(const BlockPortNotes& notes);

}  // namespace mantissa::verify
