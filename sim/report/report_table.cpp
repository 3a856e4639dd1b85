#include "sim/report/report_table.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/report/figures.hpp"
#include "sim/support/text_table.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

using Align = TextTable::Align;

constexpr std::size_t layer_width = 18;
constexpr std::size_t line_width = 120;

bool has_steps(const ReplayReport& report) {
  return std::any_of(report.passes.begin(), report.passes.end(),
                     [&](const PassReport& pass) { return pass.step != report.passes.front().step; });
}

// "Input gradient".
template <class Named>
std::string title_of(Named named) {
  std::string title(name_of(named));
  std::replace(title.begin(), title.end(), '_', ' ');
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string shape_text(const PassReport& pass) {
  const auto text = [](std::int64_t size) { return std::to_string(size); };
  if (work_of(pass) == Work::norms) return text(pass.gemm.m) + " ch x " + text(pass.gemm.k);
  if (work_of(pass) == Work::updates) return text(pass.gemm.m);
  return (pass.groups > 1 ? text(pass.groups) + " * " : "") + text(pass.gemm.m) + "x" + text(pass.gemm.n) +
         "x" + text(pass.gemm.k);
}

std::string sqnr_text(double sqnr_db) {
  return std::isinf(sqnr_db) && sqnr_db > 0 ? "exact" : fixed_text(sqnr_db, 1);
}

std::string counted(std::int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// What accumulators lose.
std::string sums_text(const Totals& totals) {
  const std::string exact = counted(static_cast<std::int64_t>(totals.accumulator_exact), "product");
  if (std::isnan(totals.min_accumulator_sqnr_db))
    return totals.accumulator_exact == 0 ? "no sums" : "sums exact";
  return "sums alone " + fixed_text(totals.min_accumulator_sqnr_db, 1) + " dB at worst, " +
         fixed_text(totals.median_accumulator_sqnr_db, 1) + " dB median" +
         (totals.accumulator_exact == 0 ? "" : ", " + exact + " exact");
}

// Figures of one title share a column, and a cell.
std::vector<TextTable::Column> titles_of(Column Figure::*table, std::vector<TextTable::Column> columns) {
  for (const Figure* figure : placed(table)) {
    const Column& column = figure->*table;
    const bool shared = column.title == columns.back().title;
    if (!shared && column.show != Column::Show::line) columns.push_back({std::string(column.title)});
  }
  return columns;
}

template <typename Of>
std::vector<std::string> cells_of(Column Figure::*table, const Of& of, std::vector<std::string> cells) {
  std::string_view before;
  for (const Figure* figure : placed(table)) {
    const Column& column = figure->*table;
    if (column.show == Column::Show::line) continue;
    const std::string text = cell_text(*figure, column.show, of);
    if (column.title != before) cells.push_back(text);
    if (column.title == before) cells.back() += "/" + text;
    before = column.title;
  }
  return cells;
}

std::string speedup_text(double speedup) { return std::isnan(speedup) ? "-" : fixed_text(speedup, 2) + "x"; }

std::string count_text(std::uint64_t count) { return with_prefix(static_cast<double>(count)); }

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

std::string settings_text(const ReplayReport& report) {
  std::string text;
  for (const std::string& setting : report.settings)
    text += (text.empty() ? ", set " : " ") + printable(setting);
  return text;
}

// "2 steps, 8 images".
std::string steps_text(const ReplayReport& report) {
  return counted(std::ssize(report.steps), "step") + ", " + counted(images_of(report), "image");
}

std::string identity(const ReplayReport& report) {
  const auto named = [](const std::string& name, const std::string& hash) {
    return printable(name) + (hash.empty() ? "" : " [" + printable(hash.substr(0, 8)) + "]");
  };
  return wrapped("trace " + named(report.trace, report.trace_hash) + ", recipe " +
                 named(report.recipe, report.recipe_hash) + ", arch " + named(report.arch, report.arch_hash) +
                 " " + std::to_string(report.rows) + "x" + std::to_string(report.cols) + " at " +
                 with_prefix(report.clock_mhz) + " MHz" + settings_text(report) + ", " + steps_text(report) +
                 ", engine " + printable(report.engine) + ", seed " + std::to_string(report.seed) +
                 (report.sampled_tiles == 0
                      ? std::string()
                      : ", " + std::to_string(report.sampled_tiles) + " tiles sampled"));
}

std::string totals_table(const ReportTotals& totals) {
  TextTable table(titles_of(&Figure::total, {{"Pass", Align::left}}));
  const auto add = [&table](const std::string& name, const Totals& of) {
    table.row(cells_of(&Figure::total, of, {name}));
  };
  for (std::size_t i = 0; i < reported_passes.size(); ++i) {
    if (totals.by_pass[i].passes != 0) add(title_of(reported_passes[i]), totals.by_pass[i]);
  }
  table.rule();
  for (std::size_t i = 0; i < kinds_of_work.size(); ++i) {
    const std::uint64_t passes = totals.by_work[i].passes;
    if (passes != 0 && passes != totals.overall.passes) add(title_of(kinds_of_work[i]), totals.by_work[i]);
  }
  table.rule();
  add("Total", totals.overall);
  if (totals.by_step.size() > 1) {
    table.rule();
    for (const StepTotals& step : totals.by_step) add("Step " + std::to_string(step.step), step.totals);
  }
  return table.text();
}

std::string energy_table(const ReplayReport& report, const Totals& totals) {
  std::set<std::string> names;
  for (const Energy& energy : totals.energy) {
    for (const EnergyComponent& component : energy.components) names.insert(component.name);
  }
  std::vector<TextTable::Column> columns{{"Energy", Align::left}};
  for (const std::string& name : names) columns.push_back({name});
  columns.push_back({"total"});
  columns.push_back({"derived"});
  TextTable table(columns);
  for (std::size_t i = 0; i < totals.energy.size(); ++i) {
    const Energy& energy = totals.energy[i];
    const double total = total_energy_pj(energy);
    std::vector<std::string> cells{report.tables[i].name};
    for (const std::string& name : names) {
      const auto found = std::find_if(energy.components.begin(), energy.components.end(),
                                      [&name](const EnergyComponent& one) { return one.name == name; });
      cells.push_back(found == energy.components.end() ? "-" : percent_text(ratio(found->pj, total)));
    }
    cells.push_back(energy_text(total));
    cells.push_back(percent_text(derived_share(energy)));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string energy_per_mac_line(const ReplayReport& report, const Totals& totals) {
  std::string text = "energy per MAC:";
  for (std::size_t i = 0; i < totals.energy.size(); ++i) {
    const Energy& energy = totals.energy[i];
    text += (i == 0 ? " " : " | ") + provenance(report.tables[i]) + " " +
            fixed_text(pj_per_mac_executed(energy, totals.cost), 2) + " pJ executed, " +
            fixed_text(pj_per_mac_dense(energy, totals.cost), 2) + " pJ dense, " +
            fixed_text(100 * derived_share(energy), 0) + "% derived";
  }
  return text + "\n";
}

}  // namespace

std::string pass_table(const ReplayReport& report, Pass pass) {
  const bool steps = has_steps(report);
  std::vector<TextTable::Column> columns{{"layer", Align::left}, {"MxNxK"}};
  if (steps) columns.insert(columns.begin(), {"step"});
  TextTable table(titles_of(&Figure::pass, std::move(columns)));
  for (const PassReport& one : report.passes) {
    if (one.pass != pass) continue;
    std::vector<std::string> cells{shortened_in_the_middle(printable(one.layer), layer_width),
                                   shape_text(one)};
    if (steps) cells.insert(cells.begin(), std::to_string(one.step));
    table.row(cells_of(&Figure::pass, one, std::move(cells)));
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
  std::string text;
  for (const std::string& warning : report.warnings) text += wrapped("warning: " + printable(warning));
  text += identity(report) + "\n" + totals_table(totals) + "\n" + energy_table(report, overall) + "\n";
  text += wrapped("throughput: " + fixed_text(overall.dense_tops, 3) + " TOPS dense-equivalent, " +
                  fixed_text(overall.tops, 3) + " executed, " + with_prefix(totals.images_per_second) +
                  " images/s, speed-up " + speedup_text(overall.speedup) + " over dense (bound " +
                  speedup_text(ideal_speedup(totals.gradient_sparsity)) + " at " +
                  percent_text(totals.gradient_sparsity) + " zero gradients)");
  text +=
      wrapped("accuracy: SQNR " + sqnr_text(overall.min_sqnr_db) + " dB at worst, " +
              sqnr_text(overall.median_sqnr_db) + " dB median; " + sums_text(overall) + "; of " +
              count_text(overall.elements) + " results " + count_text(overall.overflow) + " overflowed, " +
              count_text(overall.underflow) + " underflowed, " + count_text(overall.flushed_to_zero) +
              " became zero, " + count_text(overall.nonfinite) + " are not finite");
  if (report.run_bits.compared > 0) {
    text += wrapped("bits: of " + count_text(report.run_bits.compared) + " results of the recorded run " +
                    (report.run_bits.different == 0 ? "all are the same"
                                                    : count_text(report.run_bits.different) + " differ"));
  }
  for (const Figure* figure : placed(&Figure::total)) {
    if (figure->total.show != Column::Show::line) continue;
    text += wrapped(std::string(figure->total.title) + ": " +
                    cell_text(*figure, Column::Show::number, overall) + ", " + std::string(figure->meaning));
  }
  for (const EnergyTable& table : report.tables)
    text += wrapped("energy table " + provenance(table) + ": " + printable(table.source));
  for (const std::string& note : report.notes) text += wrapped("note: " + printable(note));
  return text + energy_per_mac_line(report, overall);
}

std::string summary_line(const ReplayReport& report) {
  const Totals totals = total(report).overall;
  std::string text = printable(report.arch);
  text += ", " + printable(report.recipe) + settings_text(report) + ":";
  std::string separator = " ";
  for (const Figure* figure : placed(&Figure::total)) {
    if (figure->total.show == Column::Show::joined) continue;
    text +=
        separator + std::string(figure->total.title) + " " + cell_text(*figure, figure->total.show, totals);
    separator = ", ";
  }
  if (!report.warnings.empty()) text += ", " + counted(std::ssize(report.warnings), "warning");
  return text + "\n";
}

std::string report_text(const ReplayReport& report, bool layers) {
  const ReportTotals totals = total(report);
  std::string text;
  if (layers) {
    for (std::size_t i = 0; i < reported_passes.size(); ++i) {
      if (totals.by_pass[i].passes != 0) text += pass_table(report, reported_passes[i]) + "\n";
    }
  }
  const std::string staging = staging_table(report, totals);
  if (!staging.empty()) text += staging + "\n";
  return text + summary(report, totals);
}

}  // namespace mantissa
