// One layer at one step: its tensors prepared, its passes run, the results put into the report.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "models/mac/stream_id.hpp"
#include "sim/arch/staging.hpp"
#include "sim/replay/engine.hpp"
#include "sim/replay/layer_plan.hpp"
#include "sim/replay/norm_pass.hpp"
#include "sim/replay/own_run.hpp"
#include "sim/replay/replay.hpp"

namespace mantissa::replay {

class LayerReplay {
 public:
  LayerReplay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch, Options options,
              Engine& engine, ReplayReport& report);

  void run(std::uint32_t step, const LayerPlan& plan);
  // Of the gradient passes so far: speed-up of training for other depths and ports.
  std::vector<StagingPoint> staging() const;
  // All that was done so far.
  const ActionCounts& actions() const { return actions_; }

 private:
  void run_gemms(std::uint32_t step, const LayerPlan& plan);
  void run_norm(std::uint32_t step, const LayerPlan& plan);

  Operand operand(std::uint32_t step, const LayerPlan& plan, trace::Role role, TensorClass tensor_class,
                  const TensorFormat& how, Pass pass, mantissa::Operand side);
  // `made` are the operands that were quantized for this pass first.
  void run_pass(std::uint32_t step, const LayerPlan& plan, GemmPass pass,
                std::initializer_list<const Operand*> made);
  std::vector<Energy> energy_of(const ActionCounts& actions);
  // Quantizes the results and reports. `made` is the operand that was quantized for this pass first.
  void finish_norm(std::uint32_t step, const LayerPlan& plan, NormPass pass, NormResult result,
                   const Operand& made);
  DrawSource draws(std::uint32_t step, const LayerPlan& plan, Pass pass, RandomUnit unit,
                   mantissa::Operand side) const;
  void note(std::uint32_t step, const LayerPlan& plan, const std::string& what);

  const trace::Trace& trace_;
  const Recipe& recipe_;
  const Architecture& arch_;
  Options options_;
  Engine& engine_;
  ReplayReport& report_;
  OwnResults own_results_;
  StagingTable staging_;
  ActionCounts actions_;
};

}  // namespace mantissa::replay
