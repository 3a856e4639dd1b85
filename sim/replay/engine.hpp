// Who runs the GEMMs. The golden kernels and the closed form always do; an engine that simulates every cycle
// runs them too, and its results must be the same bits, cycles, stalls and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/replay/difference.hpp"
#include "sim/replay/gemm_pass.hpp"

namespace mantissa::replay {

class Engine {
 public:
  virtual ~Engine() = default;
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual std::string name() const { return "fast"; }
  // Once, before the first run: the arrays that will be needed. Throws std::invalid_argument for a recipe
  // that the engine does not have.
  virtual void prepare(const Recipe&, const Architecture&, const std::vector<ArrayFormats>&) {}
  // Runs the pass and compares with what the kernels and the closed form said. Throws Difference where
  // anything differs.
  virtual void run(const GemmPass&, const GemmPassResult&, const std::string& /*what*/) {}
  virtual std::uint64_t tiles_run() const { return 0; }
};

}  // namespace mantissa::replay
