#include "sim/train/checkpoint.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/safetensors_writer.hpp"
#include "sim/train/checkpoint_seal.hpp"
#include "sim/train/checkpoint_state.hpp"

namespace mantissa::train {
namespace {

constexpr std::string_view state_key = "mantissa.checkpoint";
constexpr std::size_t deepest = 8;
// To be raised when the state gets other members; the first had none.
constexpr int layout = 6;

// What must be the same for a run to go on.
Json identity(const Model& model, const RunOptions& options) {
  return {{"network", model.network().name},
          {"recipe", model.recipe().name},
          {"configuration", options.configuration},
          {"seed", options.seed},
          {"epochs", options.epochs},
          {"batch", options.batch},
          {"workers", options.workers},
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

void check_layout(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument(std::string(state_key) + " is not an object");
  // Only this field: another layout may have other ones.
  const auto number = json.find("layout");
  if (number != json.end() && !number->is_number_unsigned()) {
    throw std::invalid_argument("layout is " + shortened(number->dump(-1, ' ', true)) +
                                "; it must be a whole number");
  }
  const std::uint64_t found = number == json.end() ? 1 : number->get<std::uint64_t>();
  if (found == layout) return;
  throw std::invalid_argument("another version of mantissa wrote it (layout " + std::to_string(found) +
                              ", not " + std::to_string(layout) + "); start over without --resume");
}

void check_digest(const trace::Safetensors& file) {
  const auto digest = file.metadata().find(std::string(digest_key));
  if (digest == file.metadata().end()) throw std::invalid_argument("it has no SHA-256 digest of itself");
  if (seal_of(file) != digest->second)
    throw std::invalid_argument("its content does not have the SHA-256 digest that it was written with");
}

void check_identity(const Json& saved, const Json& wanted) {
  if (!saved.is_object()) throw std::invalid_argument("its run is not an object");
  for (const auto& [key, value] : wanted.items()) {
    if (saved.contains(key) && saved.at(key) == value) continue;
    throw std::invalid_argument("it belongs to another run: its " + key + " is " +
                                (saved.contains(key) ? shortened(saved.at(key).dump()) : "missing") +
                                ", not " + shortened(value.dump()));
  }
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Model& model, const RunOptions& options,
                     const RunState& state, const std::optional<LossScale>& loss_scale,
                     const Attachment& attachment) {
  std::vector<trace::TensorInfo> infos;
  std::map<std::string, const std::vector<float>*> tensors;
  const auto add = [&](const std::string& name, const std::vector<float>& values) {
    infos.push_back({.name = name, .shape = {static_cast<std::int64_t>(values.size())}});
    tensors[name] = &values;
  };
  for_tensors(model, add);
  for (const Attachment::Tensor& tensor : attachment.tensors) add(tensor.name, tensor.values);
  Json json{
      {"layout", layout}, {"run", identity(model, options)}, {"state", state_json(model, state, loss_scale)}};
  if (!attachment.name.empty()) json[attachment.name] = *attachment.json;
  const auto source = [&](const trace::TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
    const std::vector<float>& from = *tensors.at(tensor.name);
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), values.size(), values.begin());
  };
  std::map<std::string, std::string> metadata = {{std::string(state_key), json_text(json, -1)}};
  metadata[std::string(digest_key)] = seal_of(infos, metadata, source);
  trace::write_safetensors(path, infos, metadata, source);
}

void load_checkpoint(const trace::Safetensors& file, const RunLength& length, Model& model,
                     const RunOptions& options, RunState& state, std::optional<LossScale>& loss_scale,
                     Attachment attachment) {
  const std::string name = file.path().string();
  const auto text = file.metadata().find(std::string(state_key));
  if (text == file.metadata().end())
    throw std::invalid_argument(name + ": it is not a checkpoint of a training run");
  const Json json = parse_json(text->second, name + ": " + std::string(state_key), deepest);
  const auto checked = [&](const std::string& problem, const auto& check) {
    try {
      check();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(name + ": " + problem + error.what());
    }
  };
  const std::string damaged = "the checkpoint is damaged: ";
  checked("", [&] { check_layout(json); });
  const Json* run = nullptr;
  const Json* saved = nullptr;
  checked(damaged, [&] {
    check_digest(file);
    // A run without an attachment repeats a name, which allows nothing more.
    const std::string& attached = attachment.name.empty() ? std::string("run") : attachment.name;
    const JsonRecord record(json, std::string(state_key), {"layout", "run", "state", attached});
    run = &record.at("run");
    saved = &record.at("state");
    if (!attachment.name.empty()) attachment.json = std::make_shared<Json>(record.at(attachment.name));
  });
  checked("", [&] { check_identity(*run, identity(model, options)); });
  checked(damaged, [&] {
    std::size_t tensors = 0;
    const auto read = [&](const std::string& tensor_name, std::vector<float>& values) {
      const trace::TensorInfo* tensor = file.find(tensor_name);
      if (tensor == nullptr || tensor->elements() != values.size() || tensor->dtype != trace::DType::f32)
        throw std::invalid_argument("tensor " + in_quotes(tensor_name) + " is missing or has another size");
      values = file.values(*tensor);
      ++tensors;
    };
    for_tensors(model, read);
    for (Attachment::Tensor& tensor : attachment.tensors) read(tensor.name, tensor.values);
    if (tensors != file.tensors().size())
      throw std::invalid_argument("it has tensors that this network has not");
    for (Parameter& parameter : model.parameters()) make_master(parameter, model.recipe().master_weights);
    restore_state(*saved, length, model, state, loss_scale);
    if (attachment.restore) attachment.restore(attachment);
  });
}

}  // namespace mantissa::train
