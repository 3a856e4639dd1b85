// How the columns of an output are cut into vector-wide panels, and which LFSR lanes feed each panel's
// columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mantissa::kernels {

// `lanes` neighbouring lanes of one array tile, standing at `offset` of a panel.
struct PanelSegment {
  std::int64_t tile_across = 0;  // the tile's number within its row of tiles
  std::int64_t first_lane = 0;
  std::int64_t offset = 0;
  int lanes = 0;
};

struct ColumnPanel {
  std::int64_t first = 0;
  std::int64_t columns = 0;
  std::vector<PanelSegment> segments;
};

// Panels of up to `width` columns. With array columns > 0, a panel holds whole tiles, or a part of one tile,
// so that every panel meets its lanes in the same places.
inline std::vector<ColumnPanel> column_panels(std::int64_t columns, std::int64_t width,
                                              std::int64_t array_columns) {
  std::vector<ColumnPanel> panels;
  if (array_columns == 0) {
    for (std::int64_t j = 0; j < columns; j += width) panels.push_back({j, std::min(width, columns - j), {}});
    return panels;
  }
  const std::int64_t tiles_per_panel = std::max<std::int64_t>(width / array_columns, 1);
  const std::int64_t part = std::min(width, array_columns);
  for (std::int64_t tile = 0; tile * array_columns < columns; tile += tiles_per_panel) {
    for (std::int64_t lane = 0; lane < array_columns; lane += part) {
      ColumnPanel panel{tile * array_columns + lane, 0, {}};
      if (panel.first >= columns) break;
      for (std::int64_t i = 0; i < tiles_per_panel && (tile + i) * array_columns < columns; ++i) {
        const auto lanes = static_cast<int>(std::min(part, array_columns - lane));
        panel.segments.push_back({tile + i, lane, i * array_columns, lanes});
        panel.columns = i * array_columns + lanes;
      }
      panel.columns = std::min(panel.columns, columns - panel.first);
      panels.push_back(panel);
    }
  }
  return panels;
}

}  // namespace mantissa::kernels
