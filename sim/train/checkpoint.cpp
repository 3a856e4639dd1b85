#include "sim/train/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/support/json.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/safetensors_writer.hpp"

namespace mantissa {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ConversionCounts, elements, overflow, underflow, inexact, invalid,
                                   flushed_to_zero)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PruneCounts, zeros_in, kept, snapped, zeros_made)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GradientReport, step, layer, elements, zero_share, mu, sigma, ks_lognormal,
                                   ks_normal, ks_laplace, tau)

}  // namespace mantissa

namespace mantissa::train {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerCounts, weights, activations, errors, weight_gradients, pruned,
                                   aimed_at, recent)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EpochReport, train_loss, train_accuracy, val_loss, val_accuracy, steps,
                                   skipped_steps, loss_exponent, seconds, sparsity, target_sparsity)

namespace {

constexpr std::string_view state_key = "mantissa.checkpoint";
constexpr std::size_t deepest = 8;
// To be raised when the state gets other members; the first had none.
constexpr int layout = 4;

// What must be the same for a run to go on.
Json identity(const Model& model, const RunOptions& options) {
  return {{"network", model.network().name},
          {"recipe", model.recipe().name},
          {"configuration", options.configuration},
          {"seed", options.seed},
          {"epochs", options.epochs},
          {"batch", options.batch},
          {"images", options.images},
          {"rows", options.rows},
          {"cols", options.cols},
          {"learning_rate", options.training.learning_rate},
          {"momentum", options.training.momentum},
          {"weight_decay", options.training.weight_decay}};
}

// Every tensor of a run under its name, to be read or written.
template <class AnyModel, class Visit>
void for_tensors(AnyModel& model, const Visit& visit) {
  for (auto& parameter : model.parameters()) {
    visit(parameter.name, parameter.value.values);
    visit(parameter.name + ".momentum", parameter.momentum);
  }
  for (auto* norm : model.norm_layers()) {
    visit(norm->plan().name() + ".running_mean", norm->running().mean);
    visit(norm->plan().name() + ".running_scale", norm->running().scale);
  }
}

// What a layer carries from step to step.
Json layer_json(const LayerPlan& plan, const LayerCounts& counts) {
  return {{"name", plan.name()}, {"registers", registers_json(plan.registers)}, {"counts", counts}};
}

void restore_layer(const Json& json, LayerPlan& plan, LayerCounts& counts) {
  if (json.at("name") != plan.name()) throw std::invalid_argument("its layers do not match this network");
  plan.restore(parse_registers(json.at("registers"), "registers of " + in_quotes(plan.name())));
  json.at("counts").get_to(counts);
}

Json state_json(const Model& model, const RunState& state, const std::optional<LossScale>& loss_scale) {
  Json json{{"step", state.step},
            {"epoch", state.epoch},
            {"history", state.history},
            {"loss_scale", state.loss_scale},
            {"counted_steps", state.counted_steps},
            {"gradients", state.gradients},
            {"layers", Json::array()}};
  if (loss_scale)
    json["loss_scale_state"] = {loss_scale->exponent(), loss_scale->step(), loss_scale->clean_steps()};
  for (const GemmLayer* layer : model.gemm_layers())
    json["layers"].push_back(layer_json(layer->plan(), layer->counts()));
  for (const NormLayer* layer : model.norm_layers())
    json["layers"].push_back(layer_json(layer->plan(), layer->counts()));
  return json;
}

void restore_state(const Json& json, Model& model, RunState& state, std::optional<LossScale>& loss_scale) {
  json.at("step").get_to(state.step);
  json.at("epoch").get_to(state.epoch);
  json.at("history").get_to(state.history);
  json.at("loss_scale").get_to(state.loss_scale);
  json.at("counted_steps").get_to(state.counted_steps);
  json.at("gradients").get_to(state.gradients);
  if (loss_scale) {
    const Json& scale = json.at("loss_scale_state");
    loss_scale->restore(scale.at(0), scale.at(1), scale.at(2));
  }
  std::size_t index = 0;
  const Json& layers = json.at("layers");
  for (GemmLayer* layer : model.gemm_layers())
    restore_layer(layers.at(index++), layer->plan(), layer->counts());
  for (NormLayer* layer : model.norm_layers())
    restore_layer(layers.at(index++), layer->plan(), layer->counts());
}

void check_layout(const Json& json) {
  const int found = json.value("layout", 1);
  if (found == layout) return;
  throw std::invalid_argument("another version of mantissa wrote it (layout " + std::to_string(found) +
                              ", not " + std::to_string(layout) + "); start over without --resume");
}

void check_identity(const Json& saved, const Json& wanted) {
  for (const auto& [key, value] : wanted.items()) {
    if (saved.contains(key) && saved.at(key) == value) continue;
    throw std::invalid_argument("it belongs to another run: its " + key + " is " +
                                (saved.contains(key) ? shortened(saved.at(key).dump()) : "missing") +
                                ", not " + shortened(value.dump()));
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Model& model, const RunOptions& options,
                     const RunState& state, const std::optional<LossScale>& loss_scale) {
  std::vector<trace::TensorInfo> infos;
  std::map<std::string, const std::vector<float>*> tensors;
  for_tensors(model, [&](const std::string& name, const std::vector<float>& values) {
    infos.push_back({.name = name, .shape = {static_cast<std::int64_t>(values.size())}});
    tensors[name] = &values;
  });
  const Json json{
      {"layout", layout}, {"run", identity(model, options)}, {"state", state_json(model, state, loss_scale)}};
  trace::write_safetensors(
      path, infos, {{std::string(state_key), json_text(json, -1)}},
      [&](const trace::TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
        const std::vector<float>& from = *tensors.at(tensor.name);
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), values.size(), values.begin());
      });
}

void load_checkpoint(const std::filesystem::path& path, Model& model, const RunOptions& options,
                     RunState& state, std::optional<LossScale>& loss_scale) {
  const trace::Safetensors file(path);
  try {
    const auto text = file.metadata().find(std::string(state_key));
    if (text == file.metadata().end())
      throw std::invalid_argument("it is not a checkpoint of a training run");
    const Json json = parse_json(text->second, std::string(state_key), deepest);
    check_layout(json);
    check_identity(json.at("run"), identity(model, options));
    for_tensors(model, [&](const std::string& name, std::vector<float>& values) {
      const trace::TensorInfo* tensor = file.find(name);
      if (tensor == nullptr || tensor->elements() != values.size() || tensor->dtype != trace::DType::f32)
        throw std::invalid_argument("tensor " + in_quotes(name) + " is missing or has another size");
      values = file.values(*tensor);
    });
    for (Parameter& parameter : model.parameters()) make_master(parameter, model.recipe().master_weights);
    restore_state(json.at("state"), model, state, loss_scale);
  } catch (const Json::exception& error) {
    throw std::invalid_argument(path.string() + ": the checkpoint is damaged: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(path.string() + ": " + error.what());
  }
}

}  // namespace mantissa::train
