// Which tiles of a pass a machine runs that simulates every cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "models/mac/lowering.hpp"
#include "sim/arch/architecture.hpp"

namespace mantissa::replay {

// A part of a pass that runs as one job: a whole group, or one tile.
struct Piece {
  std::int64_t group = 0;
  std::int64_t first_tile = 0;
  Rectangle outputs;  // of the group
};

// `wanted` tiles, never fewer than 4; 0: all, group by group.
std::vector<Piece> pieces_of(const PassSides& sides, std::int64_t groups, const Architecture& arch,
                             std::uint64_t wanted);

}  // namespace mantissa::replay
