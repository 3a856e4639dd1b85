// The replay: every layer of every recorded step as its GEMMs and batch norms on the modelled accelerator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/energy/energy_table.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/replay/cross_check.hpp"
#include "sim/replay/size_check.hpp"
#include "sim/report/replay_report.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa::replay {

struct Options {
  std::uint64_t seed = 1;  // of the run; a trace that names its own wins
  int threads = 1;
  std::vector<std::uint32_t> steps;  // none: all
  bool staging = false;              // also the speed-up for other depths and ports
  std::string timeline;              // layer whose longest product has one; empty: the longest of all
  SizeLimits limits = {};
};

// `done` of `total` layers are finished, `what` is next.
using Progress = std::function<void(std::size_t done, std::size_t total, const std::string& what)>;

// Where `check` is not null it runs beside. Fills everything of the report but what the caller alone knows:
// version, engine, file names, hashes. The first table prices as the architecture says, the others stand
// beside it. Throws std::invalid_argument for a trace that does not fit the recipe, the
// architecture or the limits.
ReplayReport replay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                    const std::vector<EnergyTable>& tables, CrossCheck* check, const Options& options,
                    const Progress& progress);

}  // namespace mantissa::replay
