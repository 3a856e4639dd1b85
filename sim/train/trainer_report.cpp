// A run as far as it has come, as data.
#include <utility>

#include "sim/support/sha256.hpp"
#include "sim/train/trainer.hpp"

namespace mantissa::train {

TrainReport Trainer::report() const {
  TrainReport report;
  const Recipe& recipe = model_.recipe();
  report.network = model_.network().name;
  report.recipe = recipe.name;
  report.rows = options_.rows;
  report.cols = options_.cols;
  report.seed = options_.seed;
  report.epochs = options_.epochs;
  report.batch = options_.batch;
  report.images = images_;
  report.workers = group_.size();
  if (exchange_) report.exchange = exchange_->counts();
  report.learning_rate = options_.training.learning_rate;
  report.momentum = options_.training.momentum;
  report.weight_decay = options_.training.weight_decay;
  report.history = state_.history;
  report.loss_scale = state_.loss_scale;
  report.counted_steps = state_.counted_steps;
  report.gradients = state_.gradients;
  if (recipe.pruning) report.target_sparsity = recipe.pruning->sparsity;
  const auto add = [&](const std::string& layer, const char* tensors, const ConversionCounts& counts) {
    if (counts.elements > 0) report.conversions.push_back({layer, tensors, counts});
  };
  for (const GemmLayer* layer : std::as_const(model_).gemm_layers()) {
    const LayerCounts& counts = layer->counts();
    const std::string& name = layer->plan().name();
    if (layer->plan().prunes()) report.pruned_layers.push_back(name);
    add(name, "weights", counts.weights);
    add(name, "activations", counts.activations);
    add(name, "errors", counts.errors);
    add(name, "weight_gradients", counts.weight_gradients);
  }
  for (const NormLayer* layer : std::as_const(model_).norm_layers()) {
    add(layer->plan().name(), "activations", layer->counts().activations);
    add(layer->plan().name(), "errors", layer->counts().errors);
  }
  std::string bytes;
  for (const Parameter& parameter : model_.parameters()) {
    report.parameters += static_cast<std::int64_t>(parameter.value.values.size());
    bytes.append(reinterpret_cast<const char*>(parameter.value.values.data()),
                 parameter.value.values.size() * sizeof(float));
  }
  report.weights_digest = sha256(bytes);
  return report;
}

}  // namespace mantissa::train
