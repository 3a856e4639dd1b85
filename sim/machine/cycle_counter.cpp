#include "sim/machine/cycle_counter.hpp"

namespace mantissa {

void CycleCounter::count(Kind kind) {
  switch (kind) {
    case Kind::compute:
      ++counts_.compute;
      break;
    case Kind::load:
      ++counts_.stall_load;
      break;
    case Kind::write_back:
      ++counts_.stall_write_back;
      break;
    case Kind::drain:
      ++counts_.stall_drain;
      break;
  }
}

void CycleCounter::count_undecided(Kind if_idle) {
  undecided_.push_back(if_idle);
  if (static_cast<int>(undecided_.size()) <= pipe_latency_) return;
  undecided_.pop_front();
  count(Kind::compute);
}

void CycleCounter::first_row_shows() {
  for (const Kind kind : undecided_) count(kind);
  undecided_.clear();
}

void CycleCounter::add_to(GemmCycles& cycles) const { cycles += counts_; }

}  // namespace mantissa
