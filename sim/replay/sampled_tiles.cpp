#include "sim/replay/sampled_tiles.hpp"

#include <algorithm>
#include <set>

namespace mantissa::replay {
namespace {

class Tiles {
 public:
  Tiles(const PassSides& sides, std::int64_t groups, const Architecture& arch)
      : sides_(sides),
        arch_(arch),
        rows_((sides.m + arch.rows - 1) / arch.rows),
        cols_((sides.n + arch.cols - 1) / arch.cols),
        all_(rows_ * cols_ * groups) {}

  std::int64_t all() const { return all_; }
  std::int64_t in_group() const { return rows_ * cols_; }

  // The first and the last tile of each side, among them all that are partial; then evenly spaced ones. K is
  // cut in the same way in all of them.
  std::set<std::int64_t> sampled(std::int64_t wanted) const {
    const std::int64_t last_row = (rows_ - 1) * cols_;
    // Half of them in the last group.
    const std::int64_t last_group = all_ - in_group();
    std::set<std::int64_t> chosen = {0, cols_ - 1, last_group + last_row, all_ - 1};
    for (std::int64_t i = 0; static_cast<std::int64_t>(chosen.size()) < wanted && i < all_; ++i) {
      chosen.insert(i < wanted ? i * all_ / wanted : i);
    }
    return chosen;
  }

  Piece piece(std::int64_t tile) const {
    const std::int64_t row = tile % in_group() / cols_ * arch_.rows;
    const std::int64_t col = tile % cols_ * arch_.cols;
    return {tile / in_group(),
            tile,
            {row, std::min(row + arch_.rows, sides_.m), col, std::min(col + arch_.cols, sides_.n)}};
  }

 private:
  const PassSides& sides_;
  const Architecture& arch_;
  std::int64_t rows_;
  std::int64_t cols_;
  std::int64_t all_;
};

}  // namespace

std::vector<Piece> pieces_of(const PassSides& sides, std::int64_t groups, const Architecture& arch,
                             std::uint64_t wanted) {
  const Tiles tiles(sides, groups, arch);
  const auto at_least = std::max<std::int64_t>(4, static_cast<std::int64_t>(wanted));
  std::vector<Piece> pieces;
  if (wanted == 0 || at_least >= tiles.all()) {
    for (std::int64_t group = 0; group < groups; ++group)
      pieces.push_back({group, group * tiles.in_group(), {0, sides.m, 0, sides.n}});
    return pieces;
  }
  for (const std::int64_t tile : tiles.sampled(at_least)) pieces.push_back(tiles.piece(tile));
  return pieces;
}

}  // namespace mantissa::replay
