#include "sim/trace/layer_records.hpp"

#include <set>
#include <stdexcept>

#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::trace {
namespace {

using Record = JsonRecord;

constexpr std::size_t deepest_layers = 3;
// A stream of random numbers is named by 16 bits of layer (ARITHMETIC.md 4).
constexpr std::size_t most_layers = 65536;

LayerKind parse_kind(const Record& record) {
  const std::string text = record.text("kind");
  for (const LayerKind kind : {LayerKind::conv2d, LayerKind::linear, LayerKind::batchnorm}) {
    if (text == name_of(kind)) return kind;
  }
  record.fail("unknown kind " + in_quotes(text) + "; allowed: conv2d, linear, batchnorm");
}

Layer parse_layer(const Json& json, const std::string& where) {
  const Record record(json, where,
                      {"name", "kind", "stride", "padding", "dilation", "groups", "input_gradient"});
  Layer layer;
  layer.name = record.text("name");
  if (const std::string problem = problem_of_name(layer.name); !problem.empty())
    record.fail("its name " + problem);
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

}  // namespace

std::vector<Layer> parse_layers(std::string_view text, const std::string& file) {
  const std::string where = file + ": " + std::string(layers_key);
  const Json json = parse_json(text, where, deepest_layers);
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
                                      .append(" appears twice"));
    }
  }
  return layers;
}

std::string layers_json(const std::vector<Layer>& layers) {
  OrderedJson list = OrderedJson::array();
  for (const Layer& layer : layers) {
    OrderedJson record{{"name", layer.name}, {"kind", name_of(layer.kind)}};
    if (layer.kind == LayerKind::conv2d) {
      record["stride"] = layer.stride;
      record["padding"] = layer.padding;
      record["dilation"] = layer.dilation;
      record["groups"] = layer.groups;
    }
    if (!layer.input_gradient) record["input_gradient"] = false;
    list.push_back(std::move(record));
  }
  return json_text(list, -1);
}

}  // namespace mantissa::trace
