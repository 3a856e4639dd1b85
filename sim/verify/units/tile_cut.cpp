#include "sim/verify/units/tile_cut.hpp"

#include <algorithm>

namespace mantissa::verify {

TileCut::TileCut(const SkipWindow& window, int array_cols, std::uint64_t number, stimulus::Dice& dice)
    : window_(window), array_cols_(array_cols) {
  // Small tiles leave more of them; some are long enough to fill the staging and come round again.
  k_ = dice.between(1, dice.below(3) == 0 ? window.window * (window.depth + 2) : window.window + 2);
  step_k_ = dice.below(2) == 0 ? k_ : window.window * dice.between(1, 2);
  rows = dice.below(4) == 0 ? dice.between(0, window.rows) : window.rows;
  cols = dice.below(4) == 0 ? dice.between(0, array_cols) : array_cols;
  skip = number != 0 && dice.below(4) != 0;
  density = dice.below(9);
}

void TileCut::fill(int k) {
  k_ = step_k_ = k;
  rows = window_.rows;
  cols = array_cols_;
}

TileCut::Beat TileCut::next() {
  const int in_step = fed_ % step_k_;
  Beat beat;
  beat.slices =
      std::min({window_.port, window_.window - in_step % window_.window, step_k_ - in_step, k_ - fed_});
  fed_ += beat.slices;
  beat.ends_tile = fed_ == k_;
  beat.ends_step = beat.ends_tile || fed_ % step_k_ == 0;
  return beat;
}

}  // namespace mantissa::verify
