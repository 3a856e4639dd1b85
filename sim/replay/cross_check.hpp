// The golden kernels and the closed form give every result of a replay. Where a cross-check is asked for, a
// machine that simulates every cycle runs the same GEMMs, Range BN layers and updates of weights, and must
// give the same bits, cycles, stalls and bytes. It compares and never produces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine/norm_job.hpp"
#include "sim/replay/gemm_pass.hpp"
#include "sim/replay/norm_pass.hpp"
#include "sim/replay/update_pass.hpp"

namespace mantissa::replay {

// All that a replay will ask of the machine.
struct MachineNeeds {
  std::vector<ArrayFormats> arrays;
  std::optional<NormSize> norm;     // none: no layer is a Range BN
  std::optional<NormSize> drained;  // of the norms whose statistics drains take
  bool drained_parts = false;       // some of them are summed in parts
};

class CrossCheck {
 public:
  virtual ~CrossCheck() = default;
  CrossCheck() = default;
  CrossCheck(const CrossCheck&) = delete;
  CrossCheck& operator=(const CrossCheck&) = delete;

  // Once, before the first run. Throws std::invalid_argument for a recipe that the machine does not have.
  virtual void prepare(const Recipe& recipe, const Architecture& arch, const MachineNeeds& needs) = 0;
  // All throw Difference where anything differs. `what` names the layer.
  virtual void run(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                   const Step& step, const std::string& what) = 0;
  virtual void run_norm(const NormPass& pass, const NormResult& result, const std::string& what) = 0;
  // Where the recipe's masters are FP16: others have no unit.
  virtual void run_update(const UpdateValues& update, const std::string& what) = 0;
  // Tiles of GEMMs, groups of channels of batch norms, segments of updates.
  virtual std::uint64_t tiles_run() const = 0;
};

}  // namespace mantissa::replay
