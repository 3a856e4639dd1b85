#include "sim/units/array_unit.hpp"

#include <algorithm>

#include "sim/units/skip_window.hpp"

namespace mantissa {

ArrayUnit::ArrayUnit(const sc_core::sc_module_name& name, const Shape& shape, std::vector<Bits> blank)
    : ClockedUnit(name, Follows::nothing),
      a_i_(*this, "a_i", shape.skip_window.port * shape.skip_window.rows * shape.a_bits),
      b_i_(*this, "b_i", shape.skip_window.port * shape.cols * shape.b_bits),
      count_i_(*this, "count_i", slice_count_bits(shape.skip_window)),
      used_i_(*this, "used_i", shape.skip_window.rows),
      skip_i_(*this, "skip_i", 1),
      last_i_(*this, "last_i", 1),
      drain_i_(*this, "drain_i", 1),
      shape_(shape),
      window_(shape.skip_window),
      tiles_(shape.tiles),
      row_out_{.data = std::move(blank)},
      pipe_(std::max(shape.pipe_latency - 1, 0), row_out_) {
  reset_time();
}

std::size_t ArrayUnit::words() const {
  return static_cast<std::size_t>(shape_.skip_window.depth) * shape_.skip_window.window;
}

void ArrayUnit::reset() {
  reset_time();
  reset_values();
}

void ArrayUnit::reset_time() {
  window_ = SkipWindowCycles(shape_.skip_window);
  nonzero_.assign(static_cast<std::size_t>(shape_.skip_window.port) * rows(), 0);
  used_.assign(rows(), false);
  operands_.assign(rows(), nothing);
  operands_busy_ = false;
  step_active_ = false;
  tiles_.assign(tiles_.size(), {});
  computing_ = 0;
  draining_ = 0;
  drain_ = Drain::idle;
  row_ = 0;
  row_known_ = false;
  row_out_.valid = false;
  for (OutputRow& row : pipe_) row.valid = false;
}

// ------------------------------------------------------------------------------------------------ outputs

bool ArrayUnit::row_taken() const {
  if (!row_offered()) return false;
  return ready_i.read() ||
         std::any_of(pipe_.begin(), pipe_.end(), [](const OutputRow& row) { return !row.valid; });
}

const ArrayUnit::OutputRow& ArrayUnit::offered_row() {
  row_out_.valid = row_offered();
  if (row_known_ || !row_out_.valid) return row_out_;
  fill_row(row_, draining_, row_out_.data);
  row_out_.last = row_ == rows() - 1;
  row_known_ = true;
  return row_out_;
}

void ArrayUnit::evaluate() {
  ready_o.write(array_ready());
  const OutputRow& row = output();
  valid_o.write(row.valid);
  if (row.valid) show(row, draining_);
}

// Every register that is empty or gives its row away takes the one before it.
void ArrayUnit::shift_pipe() {
  bool room = ready_i.read();
  for (std::size_t i = pipe_.size(); i-- > 0;) {
    room = room || !pipe_[i].valid;
    if (!room) continue;
    if (i > 0) {
      std::swap(pipe_[i], pipe_[i - 1]);
      pipe_[i - 1].valid = false;
    } else {
      pipe_[0] = offered_row();
    }
  }
}

// ------------------------------------------------------------------------------------------------ compute

// The products in the operand registers join their sums.
void ArrayUnit::accumulate() {
  if (!operands_busy_) return;
  for (int row = 0; row < rows(); ++row) {
    if (operands_[row] != nothing) accumulate_row(row, operands_[row], operands_tile_);
  }
  operands_busy_ = false;
}

void ArrayUnit::select() {
  if (!window_.working()) return;
  for (int row = 0; row < rows(); ++row) {
    operands_[row] = window_.word(row);
    if (operands_[row] != nothing && used_[row]) ++elements_taken_;
  }
  operands_busy_ = true;
  operands_tile_ = computing_;
  if (shape_.pipe_latency == 0) accumulate();
}

void ArrayUnit::take_beat() {
  const int slices = static_cast<int>(count_i_.value());
  const bool last = last_i_.value() != 0;
  const auto nonzero = std::span(nonzero_).first(static_cast<std::size_t>(slices) * rows());
  for (int row = 0; row < rows(); ++row) used_[row] = used_i_.read().bit(row);
  for (int i = 0; i < slices; ++i) {
    stage_slice(i, window_.next_word() + i, computing_,
                nonzero.subspan(static_cast<std::size_t>(i) * rows(), rows()));
  }
  window_.advance(nonzero, skip_i_.value() != 0, last);
  step_active_ = true;
  if (last) tiles_[computing_].drain = drain_i_.value() != 0;
  beat_taken(computing_, last);
}

// -------------------------------------------------------------------------------------------- clock edge

void ArrayUnit::advance_drain(bool row_leaves, bool drained) {
  if (drain_ == Drain::settle) drain_ = Drain::send;
  if (row_leaves) {
    row_left(row_, draining_);
    if (row_ == rows() - 1) drain_ = Drain::flush;
    row_ = (row_ + 1) % rows();
    row_known_ = false;
  }
  if (drained) {
    tiles_[draining_].complete = false;
    tile_left(draining_);
    draining_ = (draining_ + 1) % tiles_.size();
    drain_ = Drain::idle;
  }
  if (drain_ == Drain::idle && tiles_[draining_].complete) {
    drain_ = shape_.pipe_latency == 0 ? Drain::send : Drain::settle;
  }
}

void ArrayUnit::advance() {
  const bool beat_fires = valid_i.read() && array_ready();
  const bool row_leaves = row_taken();
  const OutputRow& leaving = output();
  const bool drained = leaving.valid && ready_i.read() && leaving.last;
  shift_pipe();

  accumulate();
  const bool step_ends = window_.working() && window_.last();
  select();
  if (step_ends) {
    step_active_ = false;
    if (tiles_[computing_].drain) {
      tiles_[computing_].complete = true;
      computing_ = (computing_ + 1) % tiles_.size();
    }
  }
  if (beat_fires) {
    take_beat();
  } else {
    window_.advance();
  }
  advance_drain(row_leaves, drained);
}

}  // namespace mantissa
