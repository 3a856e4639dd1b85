#include "sim/report/report_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/support/text_table.hpp"

namespace mantissa {
namespace {

using Align = TextTable::Align;

constexpr std::size_t layer_width = 18;
constexpr std::size_t line_width = 120;

bool has_steps(const ReplayReport& report) {
  return std::any_of(report.passes.begin(), report.passes.end(),
                     [&](const PassReport& pass) { return pass.step != report.passes.front().step; });
}

std::string title_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "Forward";
    case Pass::input_gradient:
      return "Input gradient";
    case Pass::weight_gradient:
      return "Weight gradient";
    default:
      return std::string(name_of(pass));
  }
}

std::string shape_text(const PassReport& pass) {
  const auto text = [](std::int64_t size) { return std::to_string(size); };
  if (!is_gemm(pass)) return text(pass.gemm.m) + " ch x " + text(pass.gemm.k);
  return (pass.groups > 1 ? text(pass.groups) + " * " : "") + text(pass.gemm.m) + "x" + text(pass.gemm.n) +
         "x" + text(pass.gemm.k);
}

std::string sqnr_text(double sqnr_db) {
  return std::isinf(sqnr_db) && sqnr_db > 0 ? "exact" : fixed_text(sqnr_db, 1);
}

// "12 / 3 / 5": load, write-back, drain, in percent of all cycles.
std::string stalls_text(const GemmCycles& cost) {
  const auto cycles = static_cast<double>(cost.cycles());
  const auto share = [cycles](std::uint64_t stall) {
    return fixed_text(100 * ratio(static_cast<double>(stall), cycles), 0);
  };
  return share(cost.stall_load) + "/" + share(cost.stall_write_back) + "/" + share(cost.stall_drain);
}

std::string skipped_text(const GemmCycles& cost) {
  return percent_text(ratio(static_cast<double>(cost.skipped), static_cast<double>(dense_macs(cost))));
}

std::string speedup_text(double speedup) { return std::isnan(speedup) ? "-" : fixed_text(speedup, 2) + "x"; }

std::string count_text(std::uint64_t count) { return with_prefix(static_cast<double>(count)); }

double share_of(std::uint64_t part, std::uint64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

// Words in lines of the terminal's width, the second and later ones further in.
std::string wrapped(const std::string& text) {
  std::string result;
  std::string line;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && width_of(line) + 1 + width_of(word) > line_width) {
      result += line + "\n";
      line = "   ";
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return result + line + "\n";
}

std::string provenance(const EnergyTable& table) {
  std::string text = printable(table.name) + " (" + with_prefix(table.node_nm) + " nm";
  if (table.voltage_v > 0) text += ", " + fixed_text(table.voltage_v, 2) + " V";
  return text + ")";
}

std::string identity(const ReplayReport& report) {
  const auto named = [](const std::string& name, const std::string& hash) {
    return printable(name) + (hash.empty() ? "" : " [" + printable(hash.substr(0, 8)) + "]");
  };
  return wrapped("trace " + named(report.trace, report.trace_hash) + ", recipe " +
                 named(report.recipe, report.recipe_hash) + ", arch " + named(report.arch, report.arch_hash) +
                 " " + std::to_string(report.rows) + "x" + std::to_string(report.cols) + " at " +
                 with_prefix(report.clock_mhz) + " MHz, engine " + printable(report.engine) + ", seed " +
                 std::to_string(report.seed) +
                 (report.sampled_tiles == 0
                      ? std::string()
                      : ", " + std::to_string(report.sampled_tiles) + " tiles sampled"));
}

std::string totals_table(const ReportTotals& totals) {
  TextTable table({{"Pass", Align::left},
                   {"cycles"},
                   {"time"},
                   {"util"},
                   {"ld/wb/dr %"},
                   {"MACs"},
                   {"skipped"},
                   {"speed-up"},
                   {"TOPS"},
                   {"DRAM"},
                   {"energy"},
                   {"SQNR min"},
                   {"median"}});
  const auto add = [&table](const std::string& name, const Totals& of) {
    const double pj = of.energy.empty() ? std::nan("") : of.energy.front().total_pj();
    table.row({name, count_text(of.cost.cycles()), time_text(of.seconds), percent_text(of.utilization),
               stalls_text(of.cost), count_text(of.cost.macs), skipped_text(of.cost),
               speedup_text(of.speedup), fixed_text(of.tops, 3),
               bytes_text(static_cast<double>(of.cost.dram_bytes)), energy_text(pj),
               sqnr_text(of.min_sqnr_db), sqnr_text(of.median_sqnr_db)});
  };
  for (std::size_t i = 0; i < reported_passes.size(); ++i)
    add(title_of(reported_passes[i]), totals.by_pass[i]);
  table.rule();
  add("Total", totals.overall);
  return table.text();
}

std::string energy_table(const ReplayReport& report, const Totals& totals) {
  std::set<std::string> names;
  for (const Energy& energy : totals.energy) {
    for (const EnergyComponent& component : energy.components) names.insert(component.name);
  }
  std::vector<TextTable::Column> columns{{"Energy", Align::left}};
  for (const std::string& name : names) columns.push_back({printable(name)});
  columns.push_back({"total"});
  columns.push_back({"derived"});
  TextTable table(columns);
  for (std::size_t i = 0; i < totals.energy.size(); ++i) {
    const Energy& energy = totals.energy[i];
    std::vector<std::string> cells{printable(report.tables[i].name)};
    for (const std::string& name : names) {
      const auto found = std::find_if(energy.components.begin(), energy.components.end(),
                                      [&name](const EnergyComponent& one) { return one.name == name; });
      cells.push_back(found == energy.components.end() ? "-"
                                                       : percent_text(ratio(found->pj, energy.total_pj())));
    }
    cells.push_back(energy_text(energy.total_pj()));
    cells.push_back(percent_text(derived_share(energy)));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string energy_per_mac_line(const ReplayReport& report, const Totals& totals) {
  std::string text = "energy per MAC:";
  for (std::size_t i = 0; i < totals.energy.size(); ++i) {
    const Energy& energy = totals.energy[i];
    const auto pj = [](double value) { return std::isnan(value) ? std::string("-") : fixed_text(value, 2); };
    text += (i == 0 ? " " : " | ") + provenance(report.tables[i]) + " " +
            pj(pj_per_mac_executed(energy, totals.cost)) + " pJ executed, " +
            pj(pj_per_mac_dense(energy, totals.cost)) + " pJ dense, " +
            (std::isnan(derived_share(energy)) ? "-" : fixed_text(100 * derived_share(energy), 0)) +
            "% derived";
  }
  return text + "\n";
}

}  // namespace

std::string pass_table(const ReplayReport& report, Pass pass) {
  const bool steps = has_steps(report);
  std::vector<TextTable::Column> columns;
  if (steps) columns.push_back({"step"});
  for (const TextTable::Column& column : std::initializer_list<TextTable::Column>{{"layer", Align::left},
                                                                                  {"MxNxK"},
                                                                                  {"skip"},
                                                                                  {"cycles"},
                                                                                  {"stall %"},
                                                                                  {"util"},
                                                                                  {"speed"},
                                                                                  {"DRAM"},
                                                                                  {"energy"},
                                                                                  {"pJ/MAC"},
                                                                                  {"SQNR"},
                                                                                  {"over"},
                                                                                  {"under"}}) {
    columns.push_back(column);
  }
  TextTable table(columns);
  for (const PassReport& one : report.passes) {
    if (one.pass != pass) continue;
    const bool priced = !one.energy.empty();
    std::vector<std::string> cells;
    if (steps) cells.push_back(std::to_string(one.step));
    const double speedup = share_of(dense_cycles(one), one.cost.cycles());
    for (std::string& cell : std::vector<std::string>{
             shortened_in_the_middle(printable(one.layer), layer_width), shape_text(one),
             is_gemm(one) ? skipped_text(one.cost) : "-", count_text(one.cost.cycles()),
             stalls_text(one.cost), is_gemm(one) ? percent_text(one.utilization) : "-",
             is_gemm(one) ? speedup_text(speedup) : "-", bytes_text(static_cast<double>(one.cost.dram_bytes)),
             priced ? energy_text(one.energy.front().total_pj()) : "-",
             priced ? fixed_text(pj_per_mac_executed(one.energy.front(), one.cost), 2) : "-",
             sqnr_text(one.accuracy.sqnr_db), count_text(one.accuracy.overflow),
             count_text(one.accuracy.underflow)}) {
      cells.push_back(std::move(cell));
    }
    table.row(std::move(cells));
  }
  return title_of(pass) + " (stall: load/write-back/drain; speed: over the dense run)\n" + table.text(2);
}

std::string staging_table(const ReplayReport& report, const ReportTotals& totals) {
  if (report.staging.empty()) return {};
  std::set<int> depths;
  std::set<int> ports;
  for (const StagingPoint& point : report.staging) {
    depths.insert(point.depth);
    ports.insert(point.port);
  }
  std::vector<TextTable::Column> columns{{"", Align::left}};
  for (const int depth : depths) columns.push_back({"Depth " + std::to_string(depth)});
  columns.push_back({"bound"});
  TextTable table(columns);
  for (const int port : ports) {
    std::vector<std::string> cells{"Port " + std::to_string(port)};
    for (const int depth : depths) {
      const auto found =
          std::find_if(report.staging.begin(), report.staging.end(),
                       [&](const StagingPoint& point) { return point.depth == depth && point.port == port; });
      cells.push_back(found == report.staging.end() ? "-" : speedup_text(found->speedup));
    }
    cells.push_back(speedup_text(ideal_speedup(totals.gradient_sparsity)));
    table.row(std::move(cells));
  }
  return "Training speed-up by staging, without memory; the bound is 3/(1 + 2(1 - S)) at S = " +
         percent_text(totals.gradient_sparsity) + " zeros\n" + table.text(2);
}

std::string summary(const ReplayReport& report, const ReportTotals& totals) {
  const Totals& overall = totals.overall;
  std::string text =
      identity(report) + "\n" + totals_table(totals) + "\n" + energy_table(report, overall) + "\n";
  text +=
      wrapped("throughput: " + fixed_text(overall.tops, 3) + " TOPS executed, " +
              fixed_text(overall.dense_tops, 3) + " dense-equivalent, " +
              with_prefix(totals.images_per_second) + " images/s, speed-up " + speedup_text(overall.speedup) +
              " over dense (bound " + speedup_text(ideal_speedup(totals.gradient_sparsity)) + " at " +
              percent_text(totals.gradient_sparsity) + " zero gradients)");
  text += wrapped("accuracy: SQNR " + sqnr_text(overall.min_sqnr_db) + " dB at worst, " +
                  sqnr_text(overall.median_sqnr_db) + " dB median; of " + count_text(overall.elements) +
                  " results " + count_text(overall.overflow) + " overflowed, " +
                  count_text(overall.underflow) + " underflowed, " + count_text(overall.flushed_to_zero) +
                  " became zero, " + count_text(overall.nonfinite) + " are not finite");
  if (report.run_bits.compared > 0) {
    text += wrapped("bits: of " + count_text(report.run_bits.compared) + " results of the recorded run " +
                    (report.run_bits.different == 0 ? "all are the same"
                                                    : count_text(report.run_bits.different) + " differ"));
  }
  for (const EnergyTable& table : report.tables)
    text += wrapped("energy table " + provenance(table) + ": " + printable(table.source));
  for (const std::string& note : report.notes) text += wrapped("note: " + printable(note));
  return text + energy_per_mac_line(report, overall);
}

std::string report_text(const ReplayReport& report) {
  const ReportTotals totals = total(report);
  std::string text;
  for (const Pass pass : reported_passes) text += pass_table(report, pass) + "\n";
  const std::string staging = staging_table(report, totals);
  if (!staging.empty()) text += staging + "\n";
  return text + summary(report, totals);
}

}  // namespace mantissa
