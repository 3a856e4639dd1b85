#include "sim/trace/trace.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <stdexcept>
#include <tuple>

#include "sim/support/user_text.hpp"
#include "sim/trace/capture_record.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/layer_records.hpp"
#include "sim/trace/layer_shapes.hpp"
#include "sim/trace/run_record.hpp"

namespace mantissa::trace {
namespace {

// Whoever reads a trace looks at every layer in every step, recorded or not.
constexpr std::size_t most_layer_steps = std::size_t{1} << 22;

struct TensorName {
  std::uint32_t step;
  std::string_view layer;
  Role role;
};

// s<step>.<layer>.<role>
TensorName parse_name(const std::string& name, const std::string& file) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument(file + ": tensor " + in_quotes(name, 250) + ": " + what);
  };
  const std::string_view text = name;
  const std::size_t first = text.find('.');
  const std::size_t last = text.rfind('.');
  if (first == last) fail("its name is not of the form s<step>.<layer>.<role>");
  TensorName parsed{0, text.substr(first + 1, last - first - 1), Role::input};
  const std::string_view digits = text.substr(0, first);
  const char* end = digits.data() + digits.size();
  const auto [stop, error] =
      digits.size() < 2 || digits.front() != 's' || (digits[1] == '0' && digits.size() > 2)
          ? std::from_chars_result{nullptr, std::errc::invalid_argument}
          : std::from_chars(digits.data() + 1, end, parsed.step);
  if (error != std::errc() || stop != end)
    fail("it does not begin with s and a step in 0..4294967295 without leading zeros");
  const std::optional<Role> role = role_of(text.substr(last + 1));
  if (!role) {
    std::string list;
    for (int known = 0; known < role_count; ++known)
      list.append(known == 0 ? "" : ", ").append(name_of(static_cast<Role>(known)));
    fail("unknown role " + in_quotes(text.substr(last + 1)) + "; allowed: " + list);
  }
  parsed.role = *role;
  return parsed;
}

const std::string& required_metadata(const Safetensors& file, std::string_view key) {
  const auto found = file.metadata().find(std::string(key));
  if (found == file.metadata().end()) {
    throw std::invalid_argument(file.path().string() + ": no trace: its metadata have no " +
                                std::string(key) + "; traces/FORMAT.md describes what a trace contains");
  }
  return found->second;
}

void check_metadata_keys(const Safetensors& file) {
  for (const auto& [key, value] : file.metadata()) {
    constexpr std::array known = {layers_key, run_key, capture_key, origin_key};
    if (!key.starts_with("mantissa.") || std::find(known.begin(), known.end(), key) != known.end()) continue;
    std::string allowed;
    for (const std::string_view each : known) allowed.append(allowed.empty() ? "" : ", ").append(each);
    throw std::invalid_argument(file.path().string() + ": unknown metadata " + in_quotes(key) +
                                "; allowed: " + allowed);
  }
}

// Every tensor's place: layer, step, role.
using Slots = std::array<const TensorInfo*, role_count>;
using Grouped = std::vector<std::map<std::uint32_t, Slots>>;

Grouped group(const Safetensors& file, const std::vector<Layer>& layers) {
  const std::string name = file.path().string();
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < layers.size(); ++i) index.emplace(layers[i].name, i);
  Grouped grouped(layers.size());
  for (const TensorInfo& tensor : file.tensors()) {
    const TensorName parsed = parse_name(tensor.name, name);
    const auto layer = index.find(parsed.layer);
    if (layer == index.end()) {
      throw std::invalid_argument(name + ": tensor " + in_quotes(tensor.name, 250) + ": its layer " +
                                  in_quotes(parsed.layer, 200) + " is not in " + std::string(layers_key));
    }
    grouped[layer->second][parsed.step][static_cast<std::size_t>(parsed.role)] = &tensor;
  }
  return grouped;
}

}  // namespace

const LayerRegisters* RunStep::registers_of(std::string_view layer) const {
  const auto found = registers.find(layer);
  return found == registers.end() ? nullptr : &found->second;
}

const RunStep* Run::at(std::uint32_t step) const {
  const auto found =
      std::lower_bound(by_step.begin(), by_step.end(), step,
                       [](const RunStep& each, std::uint32_t wanted) { return each.step < wanted; });
  return found == by_step.end() || found->step != step ? nullptr : &*found;
}

Trace::Trace(const std::filesystem::path& path) : Trace(Safetensors(path)) {}

Trace::Trace(Safetensors file) : file_(std::move(file)) {
  const std::string name = file_.path().string();
  layers_ = parse_layers(required_metadata(file_, layers_key), name);
  check_metadata_keys(file_);
  if (file_.tensors().empty()) throw std::invalid_argument(name + ": no trace: it has no tensors");
  const Grouped grouped = group(file_, layers_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (grouped[i].empty()) {
      throw std::invalid_argument(name + ": layer " + in_quotes(layers_[i].name, 200) +
                                  " has no tensor in any step");
    }
    LayerShapes shapes(layers_[i], name);
    for (const auto& [step, tensors] : grouped[i]) {
      shapes.check(tensors);
      steps_.push_back(step);
    }
  }
  std::sort(steps_.begin(), steps_.end());
  steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  if (steps_.size() > most_layer_steps / layers_.size()) {
    throw std::invalid_argument(name + ": " + std::to_string(steps_.size()) + " steps of " +
                                std::to_string(layers_.size()) + " layers are too many; at most " +
                                std::to_string(most_layer_steps) + " layers of all steps are read");
  }

  if (const auto run = file_.metadata().find(std::string(run_key)); run != file_.metadata().end()) {
    RunRecord record = parse_run(run->second, layers_, name);
    if (record.steps && *record.steps != steps_) check_steps(*record.steps);
    run_ = std::move(record.run);
  }
  if (const auto found = file_.metadata().find(std::string(capture_key)); found != file_.metadata().end()) {
    capture_ = parse_capture(found->second, name);
    if (coverage().value_or(0) > 1) {
      throw std::invalid_argument(
          fmt::format("{}: {}: executed_macs is {:.0f}, less than the {:.0f} forward multiply-accumulates of "
                      "the file's own layers",
                      name, capture_key, *capture_->executed_macs, macs_of(*this, Pass::forward)));
    }
  }
  if (const auto origin = file_.metadata().find(std::string(origin_key)); origin != file_.metadata().end())
    origin_ = origin->second;
}

std::optional<double> Trace::coverage() const {
  if (!capture_ || !capture_->executed_macs) return std::nullopt;
  return macs_of(*this, Pass::forward) / *capture_->executed_macs;
}

void Trace::check_steps(const std::vector<std::uint32_t>& promised) const {
  const std::string where = path().string() + ": " + std::string(run_key) + ": ";
  for (const std::uint32_t step : promised) {
    if (!std::binary_search(steps_.begin(), steps_.end(), step)) {
      throw std::invalid_argument(where + "step " + std::to_string(step) + " has no tensor of any layer");
    }
  }
  for (const std::uint32_t step : steps_) {
    if (!std::binary_search(promised.begin(), promised.end(), step)) {
      throw std::invalid_argument(where + "steps do not name step " + std::to_string(step) +
                                  ", which has tensors");
    }
  }
  throw std::invalid_argument(where + "a step is named twice");
}

const TensorInfo* Trace::find(std::uint32_t step, const Layer& layer, Role role) const {
  return file_.find(tensor_name(step, layer.name, role));
}

std::vector<float> Trace::values(std::uint32_t step, const Layer& layer, Role role) const {
  return file_.values(required(step, layer, role));
}

const std::vector<std::int64_t>& Trace::shape(std::uint32_t step, const Layer& layer, Role role) const {
  return required(step, layer, role).shape;
}

const TensorInfo& Trace::required(std::uint32_t step, const Layer& layer, Role role) const {
  const TensorInfo* tensor = find(step, layer, role);
  if (tensor != nullptr) return *tensor;
  throw std::invalid_argument(path().string() + ": tensor " +
                              in_quotes(tensor_name(step, layer.name, role), 250) + " is not there");
}

std::string tensor_name(std::uint32_t step, std::string_view layer, Role role) {
  std::string name = "s" + std::to_string(step) + ".";
  return name.append(layer).append(".").append(name_of(role));
}

}  // namespace mantissa::trace
