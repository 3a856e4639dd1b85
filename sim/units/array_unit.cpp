#include "sim/units/array_unit.hpp"

#include <algorithm>

namespace mantissa {

ArrayUnit::ArrayUnit(const sc_core::sc_module_name& name, const Shape& shape, std::vector<Bits> blank)
    : OperandArray(name, {.skip_window = shape.skip_window,
                          .cols = shape.cols,
                          .a_bits = shape.a_bits,
                          .b_bits = shape.b_bits,
                          .operand_registers = shape.pipe_latency > 0}),
      drain_i_(*this, "drain_i", 1),
      pipe_latency_(shape.pipe_latency),
      tiles_(shape.tiles),
      row_out_{.data = std::move(blank)},
      pipe_(std::max(shape.pipe_latency - 1, 0), row_out_) {
  reset_time();
}

void ArrayUnit::reset() {
  reset_operands();
  reset_time();
  reset_values();
}

void ArrayUnit::reset_time() {
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
    drain_ = pipe_latency_ == 0 ? Drain::send : Drain::settle;
  }
}

void ArrayUnit::advance() {
  const bool beat_fires = valid_i.read() && array_ready();
  const bool row_leaves = row_taken();
  const OutputRow& leaving = output();
  const bool drained = leaving.valid && ready_i.read() && leaving.last;
  shift_pipe();

  const bool step_ends = work(computing_);
  if (step_ends && tiles_[computing_].drain) {
    tiles_[computing_].complete = true;
    computing_ = (computing_ + 1) % tiles_.size();
  }
  if (beat_fires) {
    const bool last = last_i_.value() != 0;
    take_beat(computing_);
    if (last) tiles_[computing_].drain = drain_i_.value() != 0;
    beat_taken(computing_, last);
  } else {
    take_nothing();
  }
  advance_drain(row_leaves, drained);
}

}  // namespace mantissa
