// Who runs the GEMMs and Range BN. The golden kernels and the closed form always do; an engine that simulates
// every cycle runs them too, and its results must be the same bits, cycles, stalls and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine/norm_job.hpp"
#include "sim/replay/difference.hpp"
#include "sim/replay/gemm_pass.hpp"
#include "sim/replay/norm_pass.hpp"

namespace mantissa::replay {

// All that a replay will ask of the accelerator.
struct MachineNeeds {
  std::vector<ArrayFormats> arrays;
  std::optional<NormSize> norm;  // none: no layer is a Range BN
};

class Engine {
 public:
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual std::string name() const { return "fast"; }
  // Once, before the first run. Throws std::invalid_argument for a recipe that the engine does not have.
  virtual void prepare(const Recipe&, const Architecture&, const MachineNeeds&) {}
  // Runs the pass and compares with what the kernels and the closed form said. Throws Difference where
  // anything differs.
  virtual void run(const GemmPass&, const GemmPassResult&, const std::string& /*what*/) {}
  virtual void run_norm(const NormPass&, const NormResult&, const std::string& /*what*/) {}
  // Of GEMMs; of batch norms groups of channels.
  virtual std::uint64_t tiles_run() const { return 0; }
};

}  // namespace mantissa::replay
