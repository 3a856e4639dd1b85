#include "sim/report/report_reader.hpp"

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "sim/report/report_json.hpp"
#include "sim/support/input_file.hpp"
#include "sim/support/json.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// Levels of brackets: what is nested deeper is no figure.
constexpr std::size_t deepest_report = 10;

// Complaints name the file and the place in it.
class Reader {
 public:
  explicit Reader(std::string name) : name_(std::move(name)) {}

  ReadReport read(std::string_view content) const {
    const Json json = parse_json(content, complaint_, deepest_report);
    if (!json.is_object() || !json.contains("mantissa_report"))
      complain("it is JSON, but not a report of mantissa (no key 'mantissa_report')");
    const Json& schema = json["mantissa_report"];
    if (!schema.is_number_integer() || schema != report_schema) {
      complain("it is a report of version " + (schema.is_number() ? schema.dump() : "unknown") +
               ", and this program reads version " + std::to_string(report_schema));
    }
    ReadReport report;
    report.version = text(json, "version", "the report");
    report.seed = count(json, "seed", "the report");
    report.engine = text(json, "engine", "the report");
    report.trace = input(json, "trace");
    report.recipe = input(json, "recipe");
    report.arch = input(json, "arch");
    if (json.contains("warnings")) report.warnings = texts(json["warnings"], "warnings");
    const Json& tables = member(json, "tables", "the report");
    if (!tables.is_array()) complain("'tables' is not a list");
    for (const Json& table : tables) report.tables.push_back(text(table, "name", "tables"));
    const Json& totals = member(json, "totals", "the report");
    if (!totals.is_object()) complain("'totals' is not an object");
    add_figures(report.totals, totals, "", 0);
    read_layers(report, member(json, "layers", "the report"));
    return report;
  }

 private:
  [[noreturn]] void complain(const std::string& reason) const {
    throw std::invalid_argument(complaint_ + ": " + reason);
  }

  const Json& member(const Json& json, const char* key, const std::string& where) const {
    if (!json.is_object() || !json.contains(key)) complain("no key '" + std::string(key) + "' in " + where);
    return json[key];
  }
  std::string text(const Json& json, const char* key, const std::string& where) const {
    const Json& value = member(json, key, where);
    if (!value.is_string()) complain("'" + std::string(key) + "' in " + where + " is not a string");
    return value.get<std::string>();
  }
  std::vector<std::string> texts(const Json& list, const std::string& name) const {
    std::vector<std::string> texts;
    if (!list.is_array()) complain("'" + name + "' is not a list");
    for (const Json& each : list) {
      if (!each.is_string()) complain("'" + name + "' has something else than strings");
      texts.push_back(each.get<std::string>());
    }
    return texts;
  }
  std::uint64_t count(const Json& json, const char* key, const std::string& where) const {
    const Json& value = member(json, key, where);
    if (!value.is_number_unsigned())
      complain("'" + std::string(key) + "' in " + where + " is not a whole number");
    return value.get<std::uint64_t>();
  }
  ReportInput input(const Json& json, const char* key) const {
    const Json& value = member(json, key, "the report");
    return {text(value, "name", key), text(value, "hash", key)};
  }

  void read_layers(ReadReport& report, const Json& layers) const {
    if (!layers.is_array()) complain("'layers' is not a list");
    std::set<std::tuple<std::uint64_t, std::string, std::string>> seen;
    for (const Json& json : layers) {
      const std::string where = "layers[" + std::to_string(report.layers.size()) + "]";
      ReportedLayer layer{.step = count(json, "step", where),
                          .layer = text(json, "layer", where),
                          .pass = text(json, "pass", where),
                          .kind = text(json, "kind", where),
                          .figures = {}};
      add_figures(layer.figures, json, "", 0);
      if (!seen.emplace(layer.key()).second) complain(where + " is a duplicate");
      report.layers.push_back(std::move(layer));
    }
  }

  void add_figures(Figures& figures, const Json& json, const std::string& prefix, int depth) const {
    constexpr int deepest = 8;
    if (depth > deepest) complain("objects nested more than 8 deep");
    for (const auto& [key, value] : json.items()) {
      if (value.is_object()) {
        add_figures(figures, value, prefix + key + ".", depth + 1);
      } else if (value.is_number()) {
        figures.add(prefix + key, value.get<double>());
      }
    }
  }

  std::string name_;
  std::string complaint_ = "cannot read the report " + name_;
};

}  // namespace

std::optional<double> Figures::find(const std::string& name) const {
  const auto found = figures_.find(name);
  return found == figures_.end() ? std::nullopt : std::optional(found->second);
}

ReadReport parse_report(std::string_view text, const std::string& name) { return Reader(name).read(text); }

ReadReport read_report(const fs::path& path) {
  return parse_report(whole_file(path, largest_json), path.string());
}

}  // namespace mantissa
