#include "sim/arch/skip_share.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/mac/pass_phases.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

constexpr std::int64_t sampled_rows = 64;  // of a phase, or one tile row

}  // namespace

SkipShare::SkipShare(const Architecture& arch, const BlockJob& job, const BlockCounts& nonzero)
    : scheduler_(arch.skip_window(true)) {
  if (!job.skip) return;
  const ConvShape& g = job.shape;
  const bool weights = job.pass == Pass::weight_gradient;
  units_ = weights ? g.batch * g.out[0] : job.pass == Pass::forward ? g.in_group() : g.out_group();
  const std::vector<PassPhase> phases = phases_of(g, job.pass);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const std::int64_t k_per_unit = weights ? g.out[1] : phases[i].taps_in_all();
    const std::int64_t rows = weights ? g.out_group() : g.batch * phases[i].rows_per_image();
    if (k_per_unit == 0 || rows == 0) continue;
    const std::size_t place = i * static_cast<std::size_t>(g.groups);
    const std::int64_t windows = scheduler_.array().windows(units_ * k_per_unit);
    if (place >= nonzero.size() || std::ssize(nonzero[place]) != rows * windows)
      throw std::invalid_argument("the non-zero counts are not those of the pass");
    const std::int64_t tiles = ceil_div(rows, arch.rows);
    const std::int64_t samples = std::min(tiles, std::max<std::int64_t>(1, sampled_rows / arch.rows));
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const std::int64_t first = (2 * sample + 1) * tiles / (2 * samples) * arch.rows;
      const std::int64_t used = std::min<std::int64_t>(arch.rows, rows - first);
      tile_rows_.push_back({.nonzero = std::span(nonzero[place]).subspan(first * windows, used * windows),
                            .rows = used,
                            .windows = windows,
                            .k_per_unit = k_per_unit,
                            .weight = static_cast<double>(tiles) / static_cast<double>(samples)});
    }
  }
}

double SkipShare::of(std::int64_t k_block) {
  if (tile_rows_.empty()) return 1;
  const auto [known, fresh] = known_.try_emplace(std::min(k_block, units_));
  if (fresh) known->second = measured(known->first);
  return known->second;
}

double SkipShare::measured(std::int64_t k_block) {
  double dense = 0;
  double skipped = 0;
  for (const TileRow& tile : tile_rows_) {
    for (std::int64_t unit = 0; unit < units_; unit += k_block) {
      const std::int64_t k = std::min(k_block, units_ - unit) * tile.k_per_unit;
      const std::int64_t window = unit * tile.k_per_unit / scheduler_.array().window;
      dense += tile.weight * static_cast<double>(scheduler_.dense(k, tile.rows).cycles);
      skipped += tile.weight *
                 static_cast<double>(
                     scheduler_.schedule(k, tile.nonzero.subspan(window), tile.rows, tile.windows).cycles);
    }
  }
  return std::min(1.0, skipped / dense);
}

}  // namespace mantissa
