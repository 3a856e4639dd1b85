// What the arrays with two sets of sums share: sets that change roles, and the exchange of the one that does
// not work (rtl/array_exchange.sv, rtl/sum_chain.sv). What elements and sums are, a derived unit says.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/units/operand_array.hpp"
#include "sim/units/staged_codes.hpp"

namespace mantissa {

template <class Sum>
class ExchangeArray : public OperandArray {
 public:
  std::vector<std::string> stages() const override { return {"stage", "accumulate", "exchange", "load"}; }

 protected:
  struct ExchangeShape {
    OperandShape operands;
    int sum_bits = 0;
    int sum_rows = 1;
    const char* event_port = "";  // says that something has happened in a tile
    Sum fault = 1;                // what the self-check changes in a sum
  };

  ExchangeArray(const sc_core::sc_module_name& name, const ExchangeShape& shape)
      : OperandArray(name, shape.operands),
        shape_(shape),
        cols_i_(*this, "cols_i", cols()),
        swap_i_(*this, "swap_i", 1),
        load_i_(*this, "load_i", 1),
        sum_i_(*this, "sum_i", shape.sum_rows * cols() * shape.sum_bits),
        sum_o_(*this, "sum_o", sum_i_.width()),
        last_o_(*this, "last_o", 1),
        event_o_(*this, shape.event_port, 1) {
    clear();
  }

  virtual void clear_staged() = 0;

  std::span<const ColumnRange> enabled() const { return enabled_; }  // columns of the last beat
  std::span<Sum> row_sums(int row, std::size_t tile) {
    return std::span(sets_[tile].sums).subspan(static_cast<std::size_t>(row) * cols(), cols());
  }
  void report_event(std::size_t tile) { sets_[tile].event = true; }
  void corrupt_sums(std::span<Sum> sums) const {
    for (Sum& sum : sums) sum ^= shape_.fault;
  }

 private:
  struct Set {
    std::vector<Sum> sums;  // row-major
    bool event = false;
  };
  // After the cycle in which the sets change roles comes one in which they turn round, then the rows.
  enum class Exchange : std::uint8_t { idle, turn, rows };

  void reset() override {
    reset_operands();
    clear_staged();
    clear();
  }

  void clear() {
    enabled_.clear();
    enabled_mask_ = Bits(cols());
    for (Set& set : sets_) {
      set.sums.assign(static_cast<std::size_t>(rows()) * cols(), 0);
      set.event = false;
    }
    working_ = 0;
    swap_ = false;
    waiting_ = false;
    exchange_ = Exchange::idle;
    row_ = 0;
  }

  Set& shadow() { return sets_[1 - working_]; }

  // -------------------------------------------------------------------------------------------- exchange

  bool last_rows() const { return row_ + shape_.sum_rows >= rows(); }
  // The sets may change roles in this cycle.
  bool may_swap() const {
    return exchange_ == Exchange::idle || (exchange_ == Exchange::rows && last_rows());
  }
  bool array_ready() const { return operands_ready() && (!waiting_ || may_swap()); }

  void evaluate() override {
    ready_o.write(array_ready());
    valid_o.write(exchange_ == Exchange::rows);
    if (exchange_ != Exchange::rows) return;
    Bits out(sum_o_.width());
    const auto sums = exchanged();
    for (std::size_t i = 0; i < sums.size(); ++i)
      out.set_field(static_cast<int>(i) * shape_.sum_bits, shape_.sum_bits, sums[i]);
    if (corrupted("exchange")) out.flip(0);
    sum_o_.write(out);
    last_o_.put(last_rows() ? 1 : 0);
    event_o_.put(shadow().event ? 1 : 0);
  }

  // The rows of this cycle.
  std::span<Sum> exchanged() {
    const std::size_t count = std::min(shape_.sum_rows, rows() - row_);
    return std::span(shadow().sums).subspan(static_cast<std::size_t>(row_) * cols(), count * cols());
  }

  void load_rows() {
    const auto sums = exchanged();
    if (load_i_.value() == 0) {
      std::fill(sums.begin(), sums.end(), 0);
    } else {
      const Bits& in = sum_i_.read();
      for (std::size_t i = 0; i < sums.size(); ++i)
        sums[i] = static_cast<Sum>(in.field(static_cast<int>(i) * shape_.sum_bits, shape_.sum_bits));
    }
    if (corrupted("load")) sums[0] ^= shape_.fault;
  }

  void advance_exchange() {
    if (exchange_ == Exchange::turn) {
      exchange_ = Exchange::rows;
      row_ = 0;
    } else if (exchange_ == Exchange::rows) {
      load_rows();
      if (last_rows()) exchange_ = Exchange::idle;
      row_ += shape_.sum_rows;
    }
  }

  // --------------------------------------------------------------------------------------------- compute

  void read_enabled() {
    const Bits& mask = cols_i_.read();
    if (mask == enabled_mask_) return;
    enabled_mask_ = mask;
    enabled_.clear();
    for (int col = 0; col < cols(); ++col) {
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
      sets_[working_].event = false;
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

  ExchangeShape shape_;
  DataIn cols_i_;
  DataIn swap_i_;
  DataIn load_i_;
  DataIn sum_i_;
  DataOut sum_o_;
  DataOut last_o_;
  DataOut event_o_;

  std::vector<ColumnRange> enabled_;  // columns of the last beat, and its cols_i
  Bits enabled_mask_;
  std::array<Set, 2> sets_;
  std::size_t working_ = 0;
  bool swap_ = false;     // the run that is computed ends its tile
  bool waiting_ = false;  // it has, and the sets have not changed roles yet
  Exchange exchange_ = Exchange::idle;
  int row_ = 0;  // the first of those that are exchanged
};

}  // namespace mantissa
