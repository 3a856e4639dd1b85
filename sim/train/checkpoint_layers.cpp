#include "sim/train/checkpoint_layers.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "sim/train/layer_counts.hpp"

namespace mantissa {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ConversionCounts, elements, overflow, underflow, inexact, invalid,
                                   flushed_to_zero)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PruneCounts, zeros_in, kept, snapped, zeros_made)

}  // namespace mantissa

namespace mantissa::train {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerCounts, weights, activations, errors, weight_gradients, pruned,
                                   aimed_at, recent)

namespace {

Json layer_json(const LayerPlan& plan, const LayerCounts& counts) {
  return {{"name", plan.name()}, {"registers", registers_json(plan.registers)}, {"counts", counts}};
}

ConversionCounts parse_conversions(const Json& json, const std::string& where) {
  const JsonRecord record(json, where,
                          {"elements", "overflow", "underflow", "inexact", "invalid", "flushed_to_zero"});
  ConversionCounts counts;
  counts.elements = count_of(record, "elements", largest_count);
  counts.overflow = count_of(record, "overflow", counts.elements);
  counts.underflow = count_of(record, "underflow", counts.elements);
  counts.inexact = count_of(record, "inexact", counts.elements);
  counts.invalid = count_of(record, "invalid", counts.elements);
  counts.flushed_to_zero = count_of(record, "flushed_to_zero", counts.elements);
  return counts;
}

PruneCounts parse_pruned(const Json& json, const std::string& where) {
  const JsonRecord record(json, where, {"zeros_in", "kept", "snapped", "zeros_made"});
  return {.zeros_in = count_of(record, "zeros_in", largest_count),
          .kept = count_of(record, "kept", largest_count),
          .snapped = count_of(record, "snapped", largest_count),
          .zeros_made = count_of(record, "zeros_made", largest_count)};
}

LayerCounts parse_counts(const Json& json, const std::string& where) {
  const JsonRecord record(
      json, where, {"weights", "activations", "errors", "weight_gradients", "pruned", "aimed_at", "recent"});
  const auto conversions = [&](const char* key) {
    return parse_conversions(record.at(key), where + ": " + key);
  };
  LayerCounts counts;
  counts.weights = conversions("weights");
  counts.activations = conversions("activations");
  counts.errors = conversions("errors");
  counts.weight_gradients = conversions("weight_gradients");
  counts.pruned = parse_pruned(record.at("pruned"), where + ": pruned");
  counts.aimed_at = record.real("aimed_at", 0, static_cast<double>(counts.pruned.elements()));
  counts.recent = parse_pruned(record.at("recent"), where + ": recent");
  return counts;
}

void restore_layer(const Json& json, const std::string& where, LayerPlan& plan, LayerCounts& counts) {
  const JsonRecord record(json, where, {"name", "registers", "counts"});
  if (record.text("name") != plan.name())
    record.fail("name", record.at("name"), in_quotes(plan.name(), longest_name) + " in this network");
  const std::string registers = where + ": registers";
  const LayerRegisters saved = parse_registers(record.at("registers"), registers);
  try {
    plan.restore(saved);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(registers + ": " + error.what());
  }
  counts = parse_counts(record.at("counts"), where + ": counts");
}

}  // namespace

std::uint64_t count_of(const JsonRecord& record, const std::string& key, std::uint64_t most) {
  return static_cast<std::uint64_t>(record.number(key, 0, static_cast<std::int64_t>(most)));
}

Json layers_json(const Model& model) {
  Json list = Json::array();
  for (const GemmLayer* layer : model.gemm_layers())
    list.push_back(layer_json(layer->plan(), layer->counts()));
  for (const NormLayer* layer : model.norm_layers())
    list.push_back(layer_json(layer->plan(), layer->counts()));
  return list;
}

void restore_layers(const JsonRecord& record, Model& model) {
  const Json& layers = record.list("layers");
  const std::size_t expected = model.gemm_layers().size() + model.norm_layers().size();
  if (layers.size() != expected) {
    record.fail("layers has " + std::to_string(layers.size()) + " entries; this network has " +
                std::to_string(expected));
  }
  std::size_t index = 0;
  const auto restore = [&](auto& layer) {
    const std::string where = record.where() + ": layer " + std::to_string(index);
    restore_layer(layers[index], where, layer.plan(), layer.counts());
    ++index;
  };
  for (GemmLayer* layer : model.gemm_layers()) restore(*layer);
  for (NormLayer* layer : model.norm_layers()) restore(*layer);
}

}  // namespace mantissa::train
