// Layers at their steps, one after the other: tensors prepared, passes run, the results put into a report.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim/arch/staging.hpp"
#include "sim/energy/energy_actions.hpp"
#include "sim/replay/cross_check.hpp"
#include "sim/replay/own_run.hpp"
#include "sim/replay/pass_cost.hpp"
#include "sim/replay/replay.hpp"
#include "sim/replay/step_plan.hpp"

namespace mantissa::replay {

class LayerReplay {
 public:
  LayerReplay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch, Options options,
              CrossCheck* check, ReplayReport& report);

  void run(PlannedLayer& layer);
  // Of the gradient passes so far: speed-up of training for other depths and ports.
  const StagingTable& staging() const { return staging_; }
  // All that was done so far.
  const ActionCounts& actions() const { return actions_; }

 private:
  void run_gemms(const Step& step, PlannedLayer& layer);
  void run_norm(const Step& step, PlannedLayer& layer);

  RecordedOperand operand(const Step& step, PlannedLayer& layer, const OperandSite& site);
  // `made` are the operands that were quantized for this pass first.
  GemmPassResult run_pass(const Step& step, PlannedLayer& layer, GemmPass pass,
                          std::initializer_list<const RecordedOperand*> made);
  // Where this pass takes longer than all before it, and is one of those that somebody wants to see.
  void show_timeline(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                     const PassCost& cost, const PassReport& out);
  // After the weight gradient, where the machine has units for it.
  void run_update(const Step& step, const PlannedLayer& layer, const RecordedOperand& weight,
                  std::span<const float> bias, const GemmPass& gradient, const GemmPassResult& result);
  // Quantizes the results and reports. `made` is the operand that was quantized for this pass first.
  void finish_norm(const Step& step, PlannedLayer& layer, NormPass pass, NormResult result,
                   const RecordedOperand& made);
  // What a batch norm's results become behind the quantizer; those that stay FP32 become nothing.
  void drain_norm(const Step& step, PlannedLayer& layer, const TensorFormat& format, Role role,
                  NormPass& pass, NormResult& result, PassReport& out);
  void count_gradient(const Step& step, const PlannedLayer& layer, std::span<const float> gradient);
  PassReport report_of(const Step& step, const PlannedLayer& layer, Pass pass) const;
  std::vector<Energy> energy_of(const ActionCounts& actions);
  void note(const Step& step, const PlannedLayer& layer, const std::string& what);
  std::vector<float> values(const Step& step, const PlannedLayer& layer, Role role) const {
    return trace_.values(step.number, *layer.layer, role);
  }
  bool recorded(const Step& step, const PlannedLayer& layer, Role role) const {
    return trace_.find(step.number, *layer.layer, role) != nullptr;
  }

  const trace::Trace& trace_;
  const Recipe& recipe_;
  const Architecture& arch_;
  Options options_;
  CrossCheck* check_;
  ReplayReport& report_;
  OwnResults own_results_;
  StagingTable staging_;
  ActionCounts actions_;
  DrainedNorm norm_;  // the last one, for the machine that runs the layer behind it
};

}  // namespace mantissa::replay
