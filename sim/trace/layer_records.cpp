#include "sim/trace/layer_records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <stdexcept>

#include "sim/support/user_text.hpp"
#include "sim/trace/json_text.hpp"

namespace mantissa::trace {
namespace {

using Json = nlohmann::json;

constexpr std::size_t deepest = 3;
// A stream of random numbers is named by 16 bits of layer (ARITHMETIC.md 4).
constexpr std::size_t most_layers = 65536;
constexpr std::size_t longest_name = 200;
// Far beyond any network, and small enough that no size of a convolution overflows.
constexpr std::int64_t largest_parameter = 65536;
constexpr int largest_array = 65536;

// One JSON object whose keys are all known; errors begin with where it stands.
class Record {
 public:
  Record(const Json& json, std::string where, std::initializer_list<std::string_view> known)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) fail("is not an object");
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string list;
      for (const std::string_view name : known) list.append(list.empty() ? "" : ", ").append(name);
      fail("unknown key " + in_quotes(key) + "; known are " + list);
    }
  }

  [[noreturn]] void fail(const std::string& what) const { throw std::invalid_argument(where_ + ": " + what); }
  [[noreturn]] void fail(const std::string& key, const Json& value, const std::string& what) const {
    fail(key + " is " + shortened(value.dump(-1, ' ', true)) + "; it must be " + what);
  }

  const Json* find(const std::string& key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  std::string text(const std::string& key) const {
    const Json* value = find(key);
    if (value == nullptr) fail("has no " + key);
    if (!value->is_string()) fail(key, *value, "a string");
    return value->get<std::string>();
  }

  std::int64_t number(const std::string& key, const Json& value, std::int64_t min, std::int64_t max) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(max) ||
        value.get<std::int64_t>() < min) {
      fail(key, value, "a whole number in " + std::to_string(min) + ".." + std::to_string(max));
    }
    return value.get<std::int64_t>();
  }

  // A number, or a pair of height and width.
  std::array<std::int64_t, 2> pair(const std::string& key, std::array<std::int64_t, 2> missing,
                                   std::int64_t min) const {
    const Json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_array()) {
      const std::int64_t both = number(key, *value, min, largest_parameter);
      return {both, both};
    }
    if (value->size() != 2) fail(key, *value, "a number or a pair [height, width]");
    return {number(key, (*value)[0], min, largest_parameter),
            number(key, (*value)[1], min, largest_parameter)};
  }

 private:
  const Json& json_;
  std::string where_;
};

LayerKind parse_kind(const Record& record) {
  const std::string text = record.text("kind");
  for (const LayerKind kind : {LayerKind::conv2d, LayerKind::linear, LayerKind::batchnorm}) {
    if (text == name_of(kind)) return kind;
  }
  record.fail("unknown kind " + in_quotes(text) + "; known are conv2d, linear, batchnorm");
}

Layer parse_layer(const Json& json, const std::string& where) {
  const Record record(json, where,
                      {"name", "kind", "stride", "padding", "dilation", "groups", "input_gradient"});
  Layer layer;
  layer.name = record.text("name");
  if (layer.name.empty()) record.fail("its name is empty");
  if (layer.name.size() > longest_name)
    record.fail("its name has more than " + std::to_string(longest_name) + " bytes");
  if (without_control_characters(layer.name) != layer.name)
    record.fail("its name " + in_quotes(layer.name, longest_name) + " has control characters");
  layer.kind = parse_kind(record);
  layer.stride = record.pair("stride", layer.stride, 1);
  layer.padding = record.pair("padding", layer.padding, 0);
  layer.dilation = record.pair("dilation", layer.dilation, 1);
  if (const Json* groups = record.find("groups"))
    layer.groups = record.number("groups", *groups, 1, largest_parameter);
  if (const Json* gradient = record.find("input_gradient")) {
    if (!gradient->is_boolean()) record.fail("input_gradient", *gradient, "true or false");
    layer.input_gradient = gradient->get<bool>();
  }
  const Layer plain;
  if (layer.kind != LayerKind::conv2d && (layer.stride != plain.stride || layer.padding != plain.padding ||
                                          layer.dilation != plain.dilation || layer.groups != 1)) {
    record.fail("a " + std::string(name_of(layer.kind)) +
                " layer has no stride, padding, dilation or groups");
  }
  return layer;
}

double parse_real(const Record& record, const std::string& key, const Json& value, bool zero_too) {
  const double real = value.is_number() ? value.get<double>() : -1;
  if (!std::isfinite(real) || !(real > 0 || (zero_too && real == 0)))
    record.fail(key, value, zero_too ? "a number from 0" : "a number above 0");
  return real;
}

std::vector<std::pair<std::string, double>> parse_tau(const Record& record, const Json& json,
                                                      const std::vector<Layer>& layers) {
  if (!json.is_object()) record.fail("tau", json, "an object from layer to threshold");
  std::vector<std::pair<std::string, double>> tau;
  for (const Layer& layer : layers) {
    const auto found = json.find(layer.name);
    if (found == json.end()) continue;
    tau.emplace_back(layer.name,
                     parse_real(record, "tau of " + in_quotes(layer.name, longest_name), *found, true));
  }
  if (tau.size() == json.size()) return tau;
  for (const auto& [name, value] : json.items()) {
    const auto same = [&name = name](const Layer& layer) { return layer.name == name; };
    if (std::none_of(layers.begin(), layers.end(), same))
      record.fail("tau of " + in_quotes(name, longest_name) + ", which is no layer of this trace");
  }
  return tau;
}

}  // namespace

std::vector<Layer> parse_layers(std::string_view text, const std::string& file) {
  const std::string where = file + ": " + std::string(layers_key);
  const Json json = parse_json(text, where, deepest);
  if (!json.is_array() || json.empty()) throw std::invalid_argument(where + ": is not a list of layers");
  if (json.size() > most_layers)
    throw std::invalid_argument(where + ": more than " + std::to_string(most_layers) + " layers");
  std::vector<Layer> layers;
  std::set<std::string> names;
  for (std::size_t i = 0; i < json.size(); ++i) {
    std::string layer = where;
    layer.append(": layer ").append(std::to_string(i));
    layers.push_back(parse_layer(json[i], layer));
    if (!names.insert(layers.back().name).second) {
      throw std::invalid_argument(layer.append(": its name ")
                                      .append(in_quotes(layers.back().name, longest_name))
                                      .append(" is there twice"));
    }
  }
  return layers;
}

RunRecord parse_run(std::string_view text, const std::vector<Layer>& layers, const std::string& file) {
  const std::string where = file + ": " + std::string(run_key);
  const Json json = parse_json(text, where, deepest);
  const Record record(json, where, {"run_seed", "rows", "cols", "recipe", "loss_scale", "tau", "steps"});
  RunRecord result;
  Run& run = result.run;
  if (const Json* seed = record.find("run_seed")) {
    if (!seed->is_number_unsigned()) record.fail("run_seed", *seed, "a whole number in 0..2^64-1");
    run.run_seed = seed->get<std::uint64_t>();
  }
  if (const Json* rows = record.find("rows"))
    run.rows = static_cast<int>(record.number("rows", *rows, 1, largest_array));
  if (const Json* cols = record.find("cols"))
    run.cols = static_cast<int>(record.number("cols", *cols, 1, largest_array));
  if (record.find("recipe") != nullptr) run.recipe = record.text("recipe");
  if (const Json* scale = record.find("loss_scale"))
    run.loss_scale = parse_real(record, "loss_scale", *scale, false);
  if (const Json* tau = record.find("tau")) run.tau = parse_tau(record, *tau, layers);
  if (const Json* steps = record.find("steps")) {
    if (!steps->is_array()) record.fail("steps", *steps, "a list of whole numbers");
    result.steps.emplace();
    for (const Json& step : *steps) {
      result.steps->push_back(static_cast<std::uint32_t>(
          record.number("a step", step, 0, std::numeric_limits<std::uint32_t>::max())));
    }
    std::sort(result.steps->begin(), result.steps->end());
  }
  return result;
}

std::string layers_json(const std::vector<Layer>& layers) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Layer& layer : layers) {
    nlohmann::ordered_json record{{"name", layer.name}, {"kind", name_of(layer.kind)}};
    if (layer.kind == LayerKind::conv2d) {
      record["stride"] = layer.stride;
      record["padding"] = layer.padding;
      record["dilation"] = layer.dilation;
      record["groups"] = layer.groups;
    }
    if (!layer.input_gradient) record["input_gradient"] = false;
    list.push_back(std::move(record));
  }
  return list.dump();
}

}  // namespace mantissa::trace
