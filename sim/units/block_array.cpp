// block_array in SystemC: two sets of sums that change roles, and the exchange of the one that does not work.
#include "models/array/block_array.hpp"

#include <algorithm>
#include <array>

#include "sim/units/operand_array.hpp"
#include "sim/units/staged_codes.hpp"
#include "sim/units/unit_configs.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class BlockArrayUnit : public OperandArray {
 public:
  BlockArrayUnit(const sc_core::sc_module_name& name, const BlockArray& array)
      : OperandArray(name, {.skip_window = array.skip_window,
                            .cols = array.cols,
                            .a_bits = array.a.bits(),
                            .b_bits = array.b.bits()}),
        array_(array) {
    clear();
  }

  std::vector<std::string> stages() const override { return {"stage", "accumulate", "exchange", "load"}; }

 private:
  struct Set {
    std::vector<std::uint32_t> sums;  // row-major codes
    bool suppressed = false;          // a zero of A was skipped against Inf or NaN
  };
  // After the cycle in which the sets change roles comes one in which they turn round, then the rows.
  enum class Exchange : std::uint8_t { idle, turn, rows };

  void reset() override {
    reset_operands();
    clear();
  }

  void clear() {
    staged_.clear();
    enabled_.clear();
    enabled_mask_ = Bits(array_.cols);
    for (Set& set : sets_) {
      set.sums.assign(static_cast<std::size_t>(array_.rows()) * array_.cols, 0);
      set.suppressed = false;
    }
    working_ = 0;
    swap_ = false;
    waiting_ = false;
    exchange_ = Exchange::idle;
    row_ = 0;
  }

  Set& shadow() { return sets_[1 - working_]; }

  // -------------------------------------------------------------------------------------------- exchange

  bool last_rows() const { return row_ + array_.sum_rows >= array_.rows(); }
  // The sets may change roles in this cycle.
  bool may_swap() const {
    return exchange_ == Exchange::idle || (exchange_ == Exchange::rows && last_rows());
  }
  bool array_ready() const { return operands_ready() && (!waiting_ || may_swap()); }

  void evaluate() override {
    ready_o.write(array_ready());
    valid_o.write(exchange_ == Exchange::rows);
    if (exchange_ != Exchange::rows) return;
    const int bits = array_.accumulator.bits();
    Bits out(sum_o_.width());
    const auto sums = exchanged();
    for (std::size_t i = 0; i < sums.size(); ++i) out.set_field(static_cast<int>(i) * bits, bits, sums[i]);
    if (corrupted("exchange")) out.flip(0);
    sum_o_.write(out);
    last_o_.put(last_rows() ? 1 : 0);
    suppressed_o_.put(shadow().suppressed ? 1 : 0);
  }

  // The rows of this cycle.
  std::span<std::uint32_t> exchanged() {
    const std::size_t cols = array_.cols;
    const std::size_t rows = std::min(array_.sum_rows, array_.rows() - row_);
    return std::span(shadow().sums).subspan(row_ * cols, rows * cols);
  }

  void load_rows() {
    const int bits = array_.accumulator.bits();
    const auto sums = exchanged();
    if (load_i_.value() == 0) {
      std::fill(sums.begin(), sums.end(), 0);
    } else {
      const Bits& in = sum_i_.read();
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = static_cast<std::uint32_t>(in.field(static_cast<int>(i) * bits, bits));
    }
    if (corrupted("load")) sums[0] ^= 1U << array_.accumulator.mantissa_bits;
  }

  void advance_exchange() {
    if (exchange_ == Exchange::turn) {
      exchange_ = Exchange::rows;
      row_ = 0;
    } else if (exchange_ == Exchange::rows) {
      load_rows();
      if (last_rows()) exchange_ = Exchange::idle;
      row_ += array_.sum_rows;
    }
  }

  // --------------------------------------------------------------------------------------------- compute

  void stage_slice(int index, int word, std::size_t tile, std::span<std::uint8_t> nonzero) override {
    staged_.stage(index, word, a_i_.read(), b_i_.read(), nonzero);
    bool used_zero = false;
    for (int row = 0; row < array_.rows(); ++row) {
      used_zero = used_zero || (nonzero[row] == 0 && used(row));
      nonzero[row] = nonzero[row] != 0 && used(row) ? 1 : 0;
    }
    if (used_zero && skip_i_.value() != 0 && staged_.special(word, enabled_)) sets_[tile].suppressed = true;
    if (corrupted("stage")) staged_.corrupt(word);
  }

  void accumulate_row(int row, int word, std::size_t tile) override {
    if (!used(row)) return;
    const std::size_t cols = array_.cols;
    const auto sums = std::span(sets_[tile].sums).subspan(row * cols, cols);
    staged_.accumulate(row, word, enabled_, sums);
    if (!corrupted("accumulate")) return;
    for (std::uint32_t& sum : sums) sum ^= 1U << array_.accumulator.mantissa_bits;
  }

  void read_enabled() {
    const Bits& mask = cols_i_.read();
    if (mask == enabled_mask_) return;
    enabled_mask_ = mask;
    enabled_.clear();
    for (int col = 0; col < array_.cols; ++col) {
      if (!mask.bit(col)) continue;
      if (enabled_.empty() || enabled_.back().first + enabled_.back().count != col) enabled_.push_back({col});
      ++enabled_.back().count;
    }
  }

  void advance() override {
    const bool beat_fires = valid_i.read() && array_ready();
    const bool swap_now = waiting_ && may_swap();
    const bool run_ends = work(working_);
    advance_exchange();
    if (swap_now) {
      working_ = 1 - working_;
      sets_[working_].suppressed = false;
      waiting_ = false;
      exchange_ = Exchange::turn;
    }
    if (run_ends && swap_) waiting_ = true;
    if (beat_fires) {
      read_enabled();
      take_beat(working_);
      if (last_i_.value() != 0) swap_ = swap_i_.value() != 0;
    } else {
      take_nothing();
    }
  }

  BlockArray array_;
  DataIn cols_i_{*this, "cols_i", array_.cols};
  DataIn swap_i_{*this, "swap_i", 1};
  DataIn load_i_{*this, "load_i", 1};
  DataIn sum_i_{*this, "sum_i", array_.sum_rows* array_.cols* array_.accumulator.bits()};
  DataOut sum_o_{*this, "sum_o", array_.sum_rows* array_.cols* array_.accumulator.bits()};
  DataOut last_o_{*this, "last_o", 1};
  DataOut suppressed_o_{*this, "suppressed_o", 1};

  StagedCodes staged_{
      {.a = array_.a, .b = array_.b, .acc = array_.accumulator}, array_.rows(), array_.cols, words()};
  std::vector<ColumnRange> enabled_;  // columns of the last beat, and its cols_i
  Bits enabled_mask_;
  std::array<Set, 2> sets_;
  std::size_t working_ = 0;
  bool swap_ = false;     // the run that is computed ends its tile
  bool waiting_ = false;  // it has, and the sets have not changed roles yet
  Exchange exchange_ = Exchange::idle;
  int row_ = 0;  // the first of those that are exchanged
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
