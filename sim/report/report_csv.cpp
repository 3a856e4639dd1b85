#include "sim/report/report_csv.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "sim/report/totals.hpp"

namespace mantissa {
namespace {

class Line {
 public:
  // A field that a spreadsheet would take apart is put in quotes.
  Line& text(std::string_view field) {
    separate();
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += field;
      return *this;
    }
    line_ += '"';
    for (const char c : field) line_.append(c == '"' ? 2 : 1, c);
    line_ += '"';
    return *this;
  }
  Line& count(std::uint64_t value) { return text(std::to_string(value)); }
  // The shortest digits that read back as the same number.
  Line& number(double value) {
    if (!std::isfinite(value)) return text("");
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  Line& sqnr(double value) { return std::isinf(value) && value > 0 ? text("inf") : number(value); }
  std::string end() const { return line_ + "\n"; }

 private:
  void separate() {
    if (started_) line_ += ',';
    started_ = true;
  }
  std::string line_;
  bool started_ = false;
};

// The components that any pass has, per table.
std::vector<std::set<std::string>> components_of(const ReplayReport& report) {
  std::vector<std::set<std::string>> names(report.tables.size());
  for (const PassReport& pass : report.passes) {
    for (std::size_t i = 0; i < pass.energy.size(); ++i) {
      for (const EnergyComponent& component : pass.energy[i].components) names[i].insert(component.name);
    }
  }
  return names;
}

double energy_of(const Energy& energy, const std::string& component) {
  for (const EnergyComponent& one : energy.components) {
    if (one.name == component) return one.pj;
  }
  return 0;
}

}  // namespace

std::string report_csv(const ReplayReport& report) {
  check_conservation(report);
  const std::vector<std::set<std::string>> components = components_of(report);
  Line header;
  for (const char* name : {"step",
                           "layer",
                           "pass",
                           "kind",
                           "M",
                           "N",
                           "K",
                           "groups",
                           "formats",
                           "macs",
                           "skipped_macs",
                           "suppressed",
                           "cycles",
                           "compute_cycles",
                           "stall_load_cycles",
                           "stall_write_back_cycles",
                           "stall_drain_cycles",
                           "dense_cycles",
                           "speedup",
                           "operand_sparsity",
                           "utilization",
                           "sram_bytes",
                           "dram_bytes",
                           "dram_unique_bytes",
                           "sqnr_db",
                           "cosine",
                           "max_ulp",
                           "bias",
                           "nonfinite",
                           "overflow",
                           "underflow",
                           "flushed_to_zero"}) {
    header.text(name);
  }
  for (std::size_t i = 0; i < components.size(); ++i) {
    const std::string table = report.tables[i].name + "_";
    for (const std::string& component : components[i]) header.text(table + component + "_pj");
    for (const char* name : {"total_pj", "derived_pj", "pj_per_mac_executed", "pj_per_mac_dense"})
      header.text(table + name);
  }
  std::string text = header.end();
  for (const PassReport& pass : report.passes) {
    const bool gemm = is_gemm(pass);
    const GemmCycles& cost = pass.cost;
    const Accuracy& accuracy = pass.accuracy;
    Line line;
    line.count(pass.step).text(pass.layer).text(name_of(pass.pass)).text(name_of(pass.kind));
    for (const std::int64_t size : {pass.gemm.m, pass.gemm.n, pass.gemm.k})
      line.text(std::to_string(gemm ? size : 0));
    line.text(std::to_string(pass.groups)).text(pass.formats).count(cost.macs).count(cost.skipped);
    line.count(pass.suppressed).count(cost.cycles()).count(cost.compute).count(cost.stall_load);
    line.count(cost.stall_write_back).count(cost.stall_drain).count(dense_cycles(pass));
    line.number(ratio(static_cast<double>(dense_cycles(pass)), static_cast<double>(cost.cycles())));
    line.number(pass.operand_sparsity).number(pass.utilization).count(cost.sram_bytes).count(cost.dram_bytes);
    line.count(cost.dram_bytes_unique).sqnr(accuracy.sqnr_db).number(accuracy.cosine);
    line.number(accuracy.max_ulp).number(accuracy.bias).count(accuracy.nonfinite).count(accuracy.overflow);
    line.count(accuracy.underflow).count(accuracy.flushed_to_zero);
    for (std::size_t i = 0; i < components.size(); ++i) {
      const Energy& energy = pass.energy[i];
      for (const std::string& component : components[i]) line.number(energy_of(energy, component));
      line.number(energy.total_pj()).number(energy.derived_pj());
      line.number(pj_per_mac_executed(energy, cost)).number(pj_per_mac_dense(energy, cost));
    }
    text += line.end();
  }
  return text;
}

}  // namespace mantissa
