// Which random numbers belong to which element: streams of a run, lanes of a stream, draws of a lane.
#pragma once

#include <cstdint>

#include "models/random/lfsr.hpp"

namespace mantissa {

// SplitMix64's output function with its increment.
constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

constexpr std::uint32_t lane_seed(std::uint64_t run_seed, std::uint64_t stream, std::uint64_t lane) {
  const auto seed = static_cast<std::uint32_t>(mix(mix(mix(run_seed) ^ stream) ^ lane));
  return seed == 0 ? 1 : seed;
}

// Everything that decides the random numbers of one pass: `lanes` is the number of array columns.
struct DrawSource {
  std::uint64_t run_seed = 0;
  std::uint64_t stream = 0;
  int lanes = 16;
  int leap = Lfsr::default_leap;
  // Draws of every lane that belong to what came before: draw 0 of this source is draw `before` of the lane.
  std::uint64_t before = 0;

  // Throws std::invalid_argument unless there is a lane and the leap is 1..32.
  void check() const;
  // Lane's generator, positioned so that its next draw is draw `first`.
  Lfsr lane(std::uint64_t index, std::uint64_t first = 0) const {
    Lfsr lfsr(lane_seed(run_seed, stream, index), leap);
    if (before + first != 0) lfsr.skip(before + first);
    return lfsr;
  }
};

// The draws of a plain tensor pass in element order: element i takes draw i / lanes of lane i mod lanes.
class ElementDraws {
 public:
  explicit ElementDraws(const DrawSource& source);
  std::uint32_t next();

 private:
  std::vector<Lfsr> lane_;
  std::size_t turn_ = 0;
};

}  // namespace mantissa
