// report.json read back, as far as a comparison needs it: who made it from what, and every figure by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace mantissa {

// Those of nested objects are joined by a dot, as in "energy_pj.sram"; null is no figure.
class Figures {
 public:
  void add(std::string name, double value) { figures_.emplace(std::move(name), value); }
  // Nothing where the figure is null or missing.
  std::optional<double> find(const std::string& name) const;

 private:
  std::map<std::string, double> figures_;
};

struct ReportedLayer {
  std::uint64_t step = 0;
  std::string layer;
  std::string pass;
  std::string kind;
  Figures figures;
  auto key() const { return std::tie(step, layer, pass); }
};

struct ReportInput {
  std::string name;
  std::string hash;
};

struct ReadReport {
  std::string version;
  std::uint64_t seed = 0;
  std::string engine;
  ReportInput trace;
  ReportInput recipe;
  ReportInput arch;
  std::vector<std::string> warnings;
  std::vector<std::string> tables;
  Figures totals;
  std::vector<ReportedLayer> layers;
};

// Throws std::invalid_argument that says what is wrong with the file.
ReadReport parse_report(std::string_view text, const std::string& name);
ReadReport read_report(const std::filesystem::path& path);

}  // namespace mantissa
