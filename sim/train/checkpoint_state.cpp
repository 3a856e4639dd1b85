#include "sim/train/checkpoint_state.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/support/json_record.hpp"
#include "sim/train/checkpoint_layers.hpp"

namespace mantissa {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradientReport, step, layer, elements, zero_share, mu, sigma, ks_lognormal,
                                   ks_normal, ks_laplace, tau)

}  // namespace mantissa

namespace mantissa::train {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochReport, train_loss, train_accuracy, val_loss, val_accuracy, steps,
                                   skipped_steps, loss_exponent, seconds, sparsity, target_sparsity)

namespace {

// Reads the state of a run whose length, network and recipe are known.
class StateReader {
 public:
  StateReader(const Json& json, const RunLength& length, const Model& model, bool scales)
      : record_(json, "state",
                {"step", "epoch", "history", "loss_scale", "counted_steps", "gradients", "layers",
                 "loss_scale_state"}),
        length_(length),
        model_(model),
        scales_(scales) {}

  RunState read() {
    RunState state;
    step_ = state.step = record_.number("step", 1, length_.steps);
    read_history(state.history);
    state.epoch = unfinished();
    read_loss_scale(state.loss_scale);
    state.counted_steps = exactly(record_, "counted_steps", (step_ + count_interval - 1) / count_interval);
    read_gradients(state.gradients);
    return state;
  }

  void read_loss_scale_state(std::optional<LossScale>& loss_scale, const RunState& state) const {
    if (!loss_scale) {
      if (record_.find("loss_scale_state") != nullptr)
        record_.fail("loss_scale_state: the recipe's loss scale is not dynamic");
      return;
    }
    const Json& json = record_.list("loss_scale_state");
    if (json.size() != 3) record_.fail("loss_scale_state", json, "exponent, step and clean steps");
    const int exponent = exponent_of("exponent in loss_scale_state", json[0]);
    if (exponent != state.loss_scale.back().second)
      record_.fail("exponent in loss_scale_state", json[0], "the last of loss_scale");
    record_.number("step in loss_scale_state", json[1], step_, step_);
    const std::int64_t clean =
        record_.number("number of clean steps", json[2], 0,
                       std::min(step_, model_.recipe().loss_scale.dynamic.growth_interval - 1));
    loss_scale->restore(exponent, step_, clean);
  }

  const JsonRecord& record() const { return record_; }

 private:
  static std::int64_t exactly(const JsonRecord& record, const std::string& key, std::int64_t value) {
    return record.number(key, value, value);
  }

  int exponent_of(const std::string& what, const Json& json) const {
    return static_cast<int>(record_.number(what, json, LossScale::min_exponent, LossScale::max_exponent));
  }

  // What a run of this recipe may call its loss scale after a step.
  int loss_exponent(const JsonRecord& record) const {
    const LossScaleRule& rule = model_.recipe().loss_scale;
    int min = rule.kind == LossScaleRule::Kind::constant ? rule.exponent : 0;
    int max = min;
    if (scales_) {
      min = LossScale::min_exponent;
      max = LossScale::max_exponent;
    }
    return static_cast<int>(record.number("loss_exponent", min, max));
  }

  std::vector<double> shares(const JsonRecord& record, const std::string& key) const {
    const auto pruned = [](const GemmLayer* layer) { return layer->plan().prunes(); };
    const std::vector<const GemmLayer*> layers = model_.gemm_layers();
    const auto most = static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), pruned));
    const Json& list = record.list(key);
    if (list.size() > most)
      record.fail(key, list, "at most " + std::to_string(most) + " numbers, one per pruned layer");
    std::vector<double> values;
    for (const Json& share : list) values.push_back(record.real(key, share, 0, 1));
    return values;
  }

  // Sums of an epoch under way are not divided yet: `images` is what an accuracy of 1 is then.
  EpochReport epoch(const Json& json, const std::string& where, std::int64_t steps, double images) const {
    const JsonRecord record(json, where,
                            {"train_loss", "train_accuracy", "val_loss", "val_accuracy", "steps",
                             "skipped_steps", "loss_exponent", "seconds", "sparsity", "target_sparsity"});
    EpochReport epoch;
    epoch.train_loss = record.real("train_loss", 0);
    epoch.train_accuracy = record.real("train_accuracy", 0, images);
    epoch.val_loss = record.real("val_loss", 0);
    epoch.val_accuracy = record.real("val_accuracy", 0, 1);
    epoch.steps = exactly(record, "steps", steps);
    epoch.skipped_steps = record.number("skipped_steps", 0, steps);
    // Nothing was noted before the first step.
    epoch.loss_exponent =
        steps == 0 ? static_cast<int>(exactly(record, "loss_exponent", 0)) : loss_exponent(record);
    epoch.seconds = record.real("seconds", 0);
    epoch.sparsity = shares(record, "sparsity");
    epoch.target_sparsity = shares(record, "target_sparsity");
    if (epoch.sparsity.size() != epoch.target_sparsity.size())
      record.fail("target_sparsity", record.at("target_sparsity"), "as long as sparsity");
    return epoch;
  }

  void read_history(std::vector<EpochReport>& history) const {
    const Json& list = record_.list("history");
    const auto epochs = static_cast<std::size_t>(step_ / length_.steps_per_epoch);
    if (list.size() != epochs) {
      record_.fail("history has " + std::to_string(list.size()) + " epochs; after step " +
                   std::to_string(step_) + " it must have " + std::to_string(epochs));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string where = "state: history: epoch " + std::to_string(i);
      history.push_back(epoch(list[i], where, length_.steps_per_epoch, 1));
    }
  }

  EpochReport unfinished() const {
    const std::int64_t steps = step_ % length_.steps_per_epoch;
    // Without its losses, an epoch that has not begun is all zeros.
    const double images = static_cast<double>(std::min(steps * length_.batch, length_.images));
    EpochReport report = epoch(record_.at("epoch"), "state: epoch", steps, images);
    if (!report.sparsity.empty() || report.val_loss != 0 || report.val_accuracy != 0)
      record_.fail("epoch has a validation or a sparsity, which an epoch has only at its end");
    if (steps == 0 && (report.train_loss != 0 || report.seconds != 0))
      record_.fail("epoch has a loss or a time before its first step");
    return report;
  }

  void read_loss_scale(std::vector<std::pair<std::int64_t, int>>& changes) const {
    const Json& list = record_.list("loss_scale");
    if (list.empty() == scales_) {
      record_.fail(std::string("loss_scale is ") + (scales_ ? "empty" : "not empty") +
                   ", but the recipe's loss scale is " + (scales_ ? "dynamic" : "not dynamic"));
    }
    for (const Json& change : list) {
      if (!change.is_array() || change.size() != 2)
        record_.fail("an entry of loss_scale", change, "a pair of step and exponent");
      const std::int64_t first = changes.empty() ? 0 : changes.back().first + 1;
      const std::int64_t step =
          record_.number("a step of loss_scale", change[0], first, changes.empty() ? 0 : step_);
      changes.emplace_back(step, exponent_of("an exponent of loss_scale", change[1]));
    }
  }

  void read_gradients(std::vector<GradientReport>& gradients) const {
    const Json& list = record_.list("gradients");
    const std::vector<const GemmLayer*> layers = model_.gemm_layers();
    const std::size_t expected = step_ == length_.steps ? layers.size() : 0;
    if (list.size() != expected) {
      record_.fail("gradients has " + std::to_string(list.size()) + " entries; after step " +
                   std::to_string(step_) + " of " + std::to_string(length_.steps) + " it must have " +
                   std::to_string(expected));
    }
    for (std::size_t i = 0; i < list.size(); ++i)
      gradients.push_back(gradient(list[i], layers[i]->plan().name()));
  }

  GradientReport gradient(const Json& json, const std::string& layer) const {
    const std::string where = "state: gradient of " + in_quotes(layer, longest_name);
    const JsonRecord record(json, where,
                            {"step", "layer", "elements", "zero_share", "mu", "sigma", "ks_lognormal",
                             "ks_normal", "ks_laplace", "tau"});
    // Logarithms of FP32 magnitudes are within these.
    constexpr double lowest = -110;
    constexpr double widest = 110;
    GradientReport report;
    report.step = static_cast<std::uint32_t>(exactly(record, "step", step_ - 1));
    report.layer = record.text("layer");
    if (report.layer != layer) record.fail("layer", record.at("layer"), in_quotes(layer, longest_name));
    report.elements = count_of(record, "elements", largest_count);
    report.zero_share = record.real("zero_share", 0, 1);
    report.mu = record.real("mu", lowest, widest);
    report.sigma = record.real("sigma", 0, 2 * widest);
    report.ks_lognormal = record.real("ks_lognormal", 0, 1);
    report.ks_normal = record.real("ks_normal", 0, 1);
    report.ks_laplace = record.real("ks_laplace", 0, 1);
    report.tau = record.real("tau", 0);
    return report;
  }

  JsonRecord record_;
  const RunLength& length_;
  const Model& model_;
  bool scales_;  // the loss, dynamically
  std::int64_t step_ = 0;
};

}  // namespace

Json state_json(const Model& model, const RunState& state, const std::optional<LossScale>& loss_scale) {
  Json json{{"step", state.step},
            {"epoch", state.epoch},
            {"history", state.history},
            {"loss_scale", state.loss_scale},
            {"counted_steps", state.counted_steps},
            {"gradients", state.gradients},
            {"layers", layers_json(model)}};
  if (loss_scale)
    json["loss_scale_state"] = {loss_scale->exponent(), loss_scale->step(), loss_scale->clean_steps()};
  return json;
}

void restore_state(const Json& json, const RunLength& length, Model& model, RunState& state,
                   std::optional<LossScale>& loss_scale) {
  StateReader reader(json, length, model, loss_scale.has_value());
  state = reader.read();
  reader.read_loss_scale_state(loss_scale, state);
  restore_layers(reader.record(), model);
}

}  // namespace mantissa::train
