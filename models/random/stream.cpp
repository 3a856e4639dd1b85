#include "models/random/stream.hpp"

#include <stdexcept>
#include <string>

namespace mantissa {

void DrawSource::check() const {
  if (lanes < 1)
    throw std::invalid_argument("a draw source needs at least one lane, not " + std::to_string(lanes));
  check_leap(leap);
}

ElementDraws::ElementDraws(const DrawSource& source) {
  source.check();
  lane_.reserve(source.lanes);
  for (int lane = 0; lane < source.lanes; ++lane) lane_.push_back(source.lane(lane));
}

std::uint32_t ElementDraws::next() {
  const std::uint32_t draw = lane_[turn_].draw();
  turn_ = turn_ + 1 == lane_.size() ? 0 : turn_ + 1;
  return draw;
}

}  // namespace mantissa
