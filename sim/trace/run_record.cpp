#include "sim/trace/run_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa::trace {
namespace {

using Record = JsonRecord;

// A run: its steps, each with registers per layer, among them scales per role.
constexpr std::size_t deepest_run = 6;
constexpr int largest_array = 65536;

using Names = std::set<std::string_view>;
Names names_of(const std::vector<Layer>& layers) {
  Names names;
  for (const Layer& layer : layers) names.insert(layer.name);
  return names;
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
  const Names names = names_of(layers);
  for (const auto& [name, value] : json.items()) {
    if (names.count(name) == 0)
      record.fail("tau of " + in_quotes(name, longest_name) + ", which is not a layer of this trace");
  }
  return tau;
}

void parse_step_registers(const Record& record, const Json& json, const std::string& where,
                          const Names& names, RunStep& step) {
  if (!json.is_object()) record.fail("registers", json, "an object from layer to its registers");
  for (const auto& [name, registers] : json.items()) {
    if (names.count(name) == 0)
      record.fail("registers of " + in_quotes(name, longest_name) + ", which is not a layer of this trace");
    step.registers[name] =
        parse_registers(registers, where + ": registers of " + in_quotes(name, longest_name));
  }
}

void parse_by_step(const Record& record, const Json& json, const std::string& where,
                   const std::vector<Layer>& layers, Run& run) {
  if (!json.is_array()) record.fail("by_step", json, "a list of steps");
  const Names names = names_of(layers);
  for (const Json& each : json) {
    for (const char* old : {"tau", "error_formats", "scales"}) {
      if (!each.is_object() || !each.contains(old)) continue;
      record.fail("by_step was recorded by an older version of mantissa (it has " + std::string(old) +
                  "); record the run again");
    }
    const Record entry(each, where + ": by_step", {"step", "loss_scale", "registers"});
    RunStep step;
    const Json* number = entry.find("step");
    if (number == nullptr) entry.fail("has no step");
    step.step = static_cast<std::uint32_t>(
        entry.number("step", *number, 0, std::numeric_limits<std::uint32_t>::max()));
    if (!run.by_step.empty() && step.step <= run.by_step.back().step)
      entry.fail("steps must ascend; " + std::to_string(step.step) + " does not");
    step.loss_scale = run.loss_scale;
    if (const Json* scale = entry.find("loss_scale"))
      step.loss_scale = parse_real(entry, "loss_scale", *scale, false);
    if (const Json* registers = entry.find("registers"))
      parse_step_registers(entry, *registers, where, names, step);
    run.by_step.push_back(std::move(step));
  }
}

}  // namespace

RunRecord parse_run(std::string_view text, const std::vector<Layer>& layers, const std::string& file) {
  const std::string where = file + ": " + std::string(run_key);
  const Json json = parse_json(text, where, deepest_run);
  const Record record(
      json, where,
      {"run_seed", "rows", "cols", "recipe", "recipe_digest", "loss_scale", "tau", "steps", "by_step"});
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
  if (record.find("recipe_digest") != nullptr) run.recipe_digest = record.text("recipe_digest");
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
  if (const Json* by_step = record.find("by_step")) parse_by_step(record, *by_step, where, layers, run);
  return result;
}

std::string run_json(const Run& run) {
  OrderedJson json = OrderedJson::object();
  if (run.run_seed) json["run_seed"] = *run.run_seed;
  if (run.rows) json["rows"] = *run.rows;
  if (run.cols) json["cols"] = *run.cols;
  if (!run.recipe.empty()) json["recipe"] = run.recipe;
  if (!run.recipe_digest.empty()) json["recipe_digest"] = run.recipe_digest;
  if (run.loss_scale != 1) json["loss_scale"] = run.loss_scale;
  for (const auto& [layer, tau] : run.tau) object_in(json, "tau")[layer] = tau;
  for (const RunStep& step : run.by_step) {
    OrderedJson entry{{"step", step.step}, {"loss_scale", step.loss_scale}};
    for (const auto& [layer, registers] : step.registers)
      object_in(entry, "registers")[layer] = registers_json(registers);
    list_in(json, "by_step").push_back(std::move(entry));
  }
  return json_text(json, -1);
}

}  // namespace mantissa::trace
