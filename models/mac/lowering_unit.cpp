#include "models/mac/lowering_unit.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

LoweringPlace moved(const LoweringPlace& place, const LoweringPlace& by) {
  return {place.line + by.line, place.y + by.y, place.element + by.element, place.x + by.x};
}

}  // namespace

void LoweringUnit::begin(const LoweringSetup& setup) {
  if (setup.lanes.size() != static_cast<std::size_t>(size_.lanes) || setup.length == 0) {
    throw std::invalid_argument(
        "a unit of " + std::to_string(size_.lanes) + " lanes takes as many, and 1 k or more, not " +
        std::to_string(setup.lanes.size()) + " lanes and " + std::to_string(setup.length) + " k");
  }
  setup_ = setup;
  walk_ = {};
  inner_ = 0;
  middle_ = setup.middle_first;
  left_ = setup.length;
  window_left_ = static_cast<std::uint32_t>(size_.window);
  lay_beat();
}

void LoweringUnit::next() {
  const auto taken = static_cast<std::uint32_t>(count_);
  left_ -= taken;
  window_left_ -= taken;
  if (window_left_ == 0) window_left_ = static_cast<std::uint32_t>(size_.window);
  lay_beat();
}

void LoweringUnit::lay_beat() {
  count_ = static_cast<int>(std::min({static_cast<std::uint32_t>(size_.port), window_left_, left_}));
  for (int slice = 0; slice < count_; ++slice) {
    places_[slice] = walk_;
    step();
  }
}

void LoweringUnit::step() {
  if (inner_ != setup_.inner_last) {
    inner_ = (inner_ + 1) & size_.element_mask();
    walk_ = moved(walk_, setup_.steps[LoweringSetup::inner]);
    return;
  }
  inner_ = 0;
  const bool around = middle_ == setup_.middle_last;
  middle_ = around ? 0 : (middle_ + 1) & size_.line_mask();
  walk_ = moved(walk_, setup_.steps[around ? LoweringSetup::outer : LoweringSetup::middle]);
}

}  // namespace mantissa
