#include "sim/report/report_reader.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "sim/report/report_json.hpp"
#include "sim/support/json.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
// Complaints name the file and the place in it.
class Reader {
 public:
  explicit Reader(const fs::path& path) : path_(path) {}

  ReadReport read() const {
    const OrderedJson json = parsed();
    if (!json.is_object() || !json.contains("mantissa_report"))
      complain("it is JSON, but not a report of mantissa (no key 'mantissa_report')");
    const OrderedJson& schema = json["mantissa_report"];
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
    const OrderedJson& tables = member(json, "tables", "the report");
    if (!tables.is_array()) complain("'tables' is not a list");
    for (const OrderedJson& table : tables) report.tables.push_back(text(table, "name", "tables"));
    const OrderedJson& totals = member(json, "totals", "the report");
    if (!totals.is_object()) complain("'totals' is not an object");
    add_figures(report.totals, totals, "", 0);
    read_layers(report, member(json, "layers", "the report"));
    return report;
  }

 private:
  [[noreturn]] void complain(const std::string& reason) const {
    throw std::invalid_argument("cannot read the report " + path_.string() + ": " + reason);
  }

  OrderedJson parsed() const {
    constexpr std::uintmax_t largest = std::uintmax_t{1} << 30;
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (!fs::exists(status)) complain("no such file");
    if (fs::is_directory(status)) complain("it is a directory; name the report.json in it");
    if (!fs::is_regular_file(status)) complain("it is not a regular file");
    if (fs::file_size(path_) > largest) complain("it is larger than 1 GiB");
    std::ifstream file(path_, std::ios::binary);
    if (!file) complain(std::strerror(errno));
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    try {
      return OrderedJson::parse(content);
    } catch (const OrderedJson::parse_error& parse) {
      complain("it is not valid JSON: error at byte " + std::to_string(parse.byte));
    }
  }

  const OrderedJson& member(const OrderedJson& json, const char* key, const std::string& where) const {
    if (!json.is_object() || !json.contains(key)) complain("no key '" + std::string(key) + "' in " + where);
    return json[key];
  }
  std::string text(const OrderedJson& json, const char* key, const std::string& where) const {
    const OrderedJson& value = member(json, key, where);
    if (!value.is_string()) complain("'" + std::string(key) + "' in " + where + " is not a string");
    return value.get<std::string>();
  }
  std::uint64_t count(const OrderedJson& json, const char* key, const std::string& where) const {
    const OrderedJson& value = member(json, key, where);
    if (!value.is_number_unsigned())
      complain("'" + std::string(key) + "' in " + where + " is not a whole number");
    return value.get<std::uint64_t>();
  }
  ReportInput input(const OrderedJson& json, const char* key) const {
    const OrderedJson& value = member(json, key, "the report");
    return {text(value, "name", key), text(value, "hash", key)};
  }

  void read_layers(ReadReport& report, const OrderedJson& layers) const {
    if (!layers.is_array()) complain("'layers' is not a list");
    std::set<std::tuple<std::uint64_t, std::string, std::string>> seen;
    for (const OrderedJson& json : layers) {
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

  void add_figures(Figures& figures, const OrderedJson& json, const std::string& prefix, int depth) const {
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

  const fs::path& path_;
};

}  // namespace

std::optional<double> Figures::find(const std::string& name) const {
  const auto found = figures_.find(name);
  return found == figures_.end() ? std::nullopt : std::optional(found->second);
}

ReadReport read_report(const fs::path& path) { return Reader(path).read(); }

}  // namespace mantissa
