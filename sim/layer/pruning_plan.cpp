#include "sim/layer/pruning_plan.hpp"

#include <algorithm>
#include <cmath>

#include "models/sparsity/empirical_threshold.hpp"
#include "models/sparsity/format_chooser.hpp"
#include "sim/layer/pruning_targets.hpp"

namespace mantissa {
namespace {

// A correction beyond this would be a fit that says nothing, or a gradient that has changed altogether.
constexpr double max_correction = 0.1;
constexpr double most_zeros = 0.999;

// Half of what was missed: gradients of two refreshes differ by chance, too.
void correct(LayerRegisters& registers, PruneCounts& recent) {
  if (recent.elements() > 0) {
    const double measured = static_cast<double>(recent.zeros()) / static_cast<double>(recent.elements());
    registers.correction =
        std::clamp(registers.correction + (registers.target - measured) / 2, -max_correction, max_correction);
  }
  recent = {};
}

// The target with the layer's correction. That of `quantile`, which is found before the refresh, is one
// refresh older.
double corrected(double target, const LayerRegisters& registers) {
  return std::clamp(target + registers.correction, 0.0, std::max(target, most_zeros));
}

}  // namespace

void PruningPlan::look(LayerPlan& layer, std::span<const float> gradient, PruneCounts* recent) {
  Seen seen{.layer = &layer, .recent = recent, .fit = fit_lognormal(gradient), .tau = std::nullopt};
  for (const float g : gradient) {
    if (std::isfinite(g)) seen.largest = std::max(seen.largest, std::fabs(static_cast<double>(g)));
  }
  seen.fit.sigma = std::min(seen.fit.sigma, max_sigma);
  if (rule_.threshold == PruningRule::Threshold::quantile)
    seen.tau = empirical_tau(gradient, corrected(rule_.sparsity, layer.registers));
  seen_.push_back(seen);
}

void PruningPlan::refresh() {
  std::vector<LognormalFit> fits;
  fits.reserve(seen_.size());
  for (const Seen& seen : seen_) fits.push_back(seen.fit);
  const std::vector<LayerThreshold> plan = pruning_targets(fits, rule_);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const Seen& seen = seen_[i];
    LayerRegisters& registers = seen.layer->registers;
    // Every step since the last refresh, this one included, had the threshold of then.
    if (rule_.feedback && seen.recent != nullptr) correct(registers, *seen.recent);
    registers.target = seen.tau ? rule_.sparsity : plan[i].sparsity;
    // A gradient that is zero all over, of a layer whose outputs all died in a ReLU, leaves nothing to
    // correct.
    const bool corrects = registers.correction != 0 && registers.target < most_zeros;
    const double tau = seen.tau   ? *seen.tau
                       : corrects ? tau_for_sparsity(corrected(registers.target, registers), seen.fit)
                                  : plan[i].tau;
    // Beyond the largest magnitude, where a fit may lead in a small tensor, survivors would be larger than
    // any gradient.
    registers.tau = std::min(tau, seen.largest);
    if (rule_.choose_format) registers.error_format = gradient_format(seen.fit.sigma);
  }
  seen_.clear();
}

}  // namespace mantissa
