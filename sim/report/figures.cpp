#include "sim/report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/support/json_text.hpp"
#include "sim/support/text_table.hpp"

namespace mantissa {
namespace {

constexpr bool products_only = true;

}  // namespace

// A new figure is a new row here. "all" and "by": places in a comparison of totals, and pass by pass.
// clang-format off
const std::vector<Figure>& figures() {
  using enum Better;
  using enum Column::Show;
  static const std::vector<Figure> table = {
    //key                         unit      d  better   csv all  by terminal: passes        terminal: totals           page
    {"passes",                  "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.totals = &Totals::passes}, "passes summed"},
    {"macs",                    "MACs",   0, neither, 1,  11, 0,  {},                     {5, "MACs"},               {1, "MACs"},
     {.cost = &GemmCycles::macs}, "multiply-accumulates executed", {}, products_only},
    {"skipped_macs",            "MACs",   0, neither, 2,  12, 7,  {1, "skip", share},     {6, "skip", share},        {2, "skipped", share},
     {.cost = &GemmCycles::skipped}, "multiply-accumulates left out because A is zero", {"macs", "skipped_macs"}},
    {"cycles",                  "cycles", 0, smaller, 4,  1,  1,  {2, "cycles"},          {1, "cycles"},             {3, "cycles"},
     {.cost = &GemmCycles::cycles}, "computing and stalls"},
    {"compute_cycles",          "cycles", 0, smaller, 5,  0,  0,  {},                     {},                        {},
     {.cost = &GemmCycles::compute}, "the array computes"},
    {"stall_load_cycles",       "cycles", 0, smaller, 6,  5,  2,  {3, "stall %", joined}, {4, "ld/wb/dr %", joined}, {4, "stall load"},
     {.cost = &GemmCycles::stall_load}, "the array waits for operands from DRAM", {"cycles"}},
    {"stall_write_back_cycles", "cycles", 0, smaller, 7,  6,  3,  {3, "stall %", joined}, {4, "ld/wb/dr %", joined}, {5, "write-back"},
     {.cost = &GemmCycles::stall_write_back}, "the array waits for results on their way to DRAM", {"cycles"}},
    {"stall_drain_cycles",      "cycles", 0, smaller, 8,  7,  4,  {3, "stall %", joined}, {4, "ld/wb/dr %", joined}, {6, "drain"},
     {.cost = &GemmCycles::stall_drain}, "the array waits until its accumulators are drained", {"cycles"}},
    {"sram_bytes",              "B",      0, smaller, 13, 15, 0,  {},                     {},                        {10, "SRAM"},
     {.cost = &GemmCycles::sram_bytes}, "moved in and out of the buffers"},
    {"dram_bytes",              "B",      0, smaller, 14, 14, 8,  {6, "DRAM"},            {9, "DRAM"},               {9, "DRAM"},
     {.cost = &GemmCycles::dram_bytes}, "moved between DRAM and buffers"},
    {"tensor_bytes",            "B",      0, neither, 15, 0,  0,  {},                     {},                        {},
     {.cost = &GemmCycles::tensor_bytes}, "of the tensors as they are: what must be moved"},
    {"lowered_bytes",           "B",      0, neither, 15, 0,  0,  {},                     {},                        {},
     {.cost = &GemmCycles::dram_bytes_unique}, "of the lowered matrices and the result"},
    {"traffic_factor",          "x",      2, smaller, 15, 14, 8,  {},                     {13, "DRAM traffic", line}, {9, "traffic"},
     {.cost = [](const GemmCycles& of) { return ratio(of.dram_bytes, of.tensor_bytes); }},
     "bytes moved over the sizes of the tensors; 1 would be each byte once"},
    {"suppressed",              "",       0, neither, 3,  13, 0,  {},                     {},                        {},
     {.pass = &PassReport::suppressed, .totals = &Totals::suppressed}, "NaNs that skipping a zero of A left out"},
    {"dense_cycles",            "cycles", 0, smaller, 9,  2,  0,  {},                     {},                        {},
     {.pass = dense_cycles, .totals = &Totals::dense_cycles}, "of the same work with skipping off"},
    {"speedup",                 "x",      2, larger,  10, 3,  6,  {5, "speed"},           {7, "speed-up"},           {8, "speed-up"},
     {.pass = [](const PassReport& of) { return ratio(dense_cycles(of), of.cost.cycles()); }, .totals = &Totals::speedup},
     "over the run with skipping off", {}, products_only},
    {"operand_sparsity",        "%",      0, neither, 11, 0,  0,  {},                     {},                        {},
     {.pass = &PassReport::operand_sparsity}, "zeros in A"},
    {"utilization",             "%",      0, larger,  12, 4,  5,  {4, "util"},            {3, "util"},               {7, "utilization"},
     {.pass = &PassReport::utilization, .totals = &Totals::utilization},
     "executed MACs over rows * cols * cycles of the array", {}, products_only},
    {"tiles",                   "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.pass = [](const PassReport& of) { return of.cost.tiles; }}, "tiles of the result, or groups of channels"},
    {"memory_steps",            "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.pass = [](const PassReport& of) { return of.cost.steps; }}, "parts that fit the buffers"},
    {"time_s",                  "s",      0, smaller, 0,  0,  0,  {},                     {2, "time"},               {},
     {.totals = &Totals::seconds}, "cycles at the architecture's clock"},
    {"dense_equivalent_tops",   "TOPS",   3, larger,  0,  8,  0,  {},                     {8, "TOPS eq"},            {},
     {.totals = &Totals::dense_tops}, "two operations per MAC, as if skipped ones had been executed, too"},
    {"tops",                    "TOPS",   3, larger,  0,  9,  0,  {},                     {8, "exec"},               {},
     {.totals = &Totals::tops}, "two operations per executed MAC"},
    {"energy_total_pj",         "J",      0, smaller, 24, 24, 9,  {7, "energy"},          {10, "energy"},            {11, "energy"},
     {.energy = [](const Energy& of, const GemmCycles&) { return total_energy_pj(of); }}, "of all components"},
    {"energy_derived_pj",       "J",      0, neither, 25, 0,  0,  {},                     {},                        {},
     {.energy = [](const Energy& of, const GemmCycles&) { return of.has_total ? of.derived_pj() : no_value; }},
     "that rests on derived prices"},
    {"derived_share",           "%",      0, neither, 0,  27, 0,  {},                     {},                        {},
     {.energy = [](const Energy& of, const GemmCycles&) { return derived_share(of); }}, "energy that rests on derived prices"},
    {"pj_per_mac_executed",     "pJ",     2, smaller, 26, 25, 10, {8, "pJ/MAC"},          {},                        {12, "pJ/MAC"},
     {.energy = pj_per_mac_executed}, "all energy over executed MACs"},
    {"pj_per_mac_dense",        "pJ",     2, smaller, 27, 26, 0,  {},                     {},                        {13, "pJ/MAC dense"},
     {.energy = pj_per_mac_dense}, "all energy over executed and skipped MACs"},
    {"elements",                "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.accuracy = &Accuracy::elements, .totals = &Totals::elements}, "results"},
    {"sqnr_db",                 "dB",     1, larger,  16, 0,  11, {9, "SQNR"},            {},                        {14, "SQNR dB"},
     {.accuracy = &Accuracy::sqnr_db}, "signal to noise of the result against FP64", {}, false, "exact"},
    {"accumulator_sqnr_db",     "dB",     1, larger,  16, 0,  11, {9, "sums"},            {},                        {14, "sums dB"},
     {.pass = [](const PassReport& of) { return of.accumulator.sqnr_db; }},
     "the same of the sums before the drain, against FP64 of the quantized operands", {}, products_only, "accumulator_exact"},
    {"accumulator_elements",    "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.pass = [](const PassReport& of) { return of.accumulator.elements; }}, "sums that were looked at; of large products some rows"},
    {"min_sqnr_db",             "dB",     1, larger,  0,  17, 0,  {},                     {11, "SQNR min"},          {},
     {.totals = &Totals::min_sqnr_db}, "lowest of a product"},
    {"median_sqnr_db",          "dB",     1, larger,  0,  18, 0,  {},                     {12, "median"},            {},
     {.totals = &Totals::median_sqnr_db}, "median of the products"},
    {"exact_products",          "",       0, larger,  0,  19, 0,  {},                     {},                        {},
     {.totals = &Totals::exact}, "products without any difference to FP64"},
    {"min_accumulator_sqnr_db", "dB",     1, larger,  0,  19, 0,  {},                     {},                        {},
     {.totals = &Totals::min_accumulator_sqnr_db}, "lowest of a product's sums"},
    {"median_accumulator_sqnr_db", "dB",  1, larger,  0,  19, 0,  {},                     {},                        {},
     {.totals = &Totals::median_accumulator_sqnr_db}, "median of the products' sums"},
    {"exact_sums",              "",       0, larger,  0,  19, 0,  {},                     {},                        {},
     {.totals = &Totals::accumulator_exact}, "products whose sums have no difference to FP64"},
    {"cosine",                  "",       5, larger,  17, 0,  12, {},                     {},                        {15, "cosine"},
     {.accuracy = &Accuracy::cosine}, "of the angle between result and FP64"},
    {"max_ulp",                 "ulp",    1, smaller, 18, 0,  0,  {},                     {},                        {16, "max ulp"},
     {.accuracy = &Accuracy::max_ulp}, "largest difference to FP64 in spacings of the output format"},
    {"bias",                    "",       5, neither, 19, 0,  0,  {},                     {},                        {},
     {.accuracy = &Accuracy::bias}, "mean difference to FP64 over mean magnitude"},
    {"nonfinite",               "",       0, smaller, 20, 23, 0,  {},                     {},                        {},
     {.accuracy = &Accuracy::nonfinite, .totals = &Totals::nonfinite}, "results that are Inf or NaN"},
    {"overflow",                "",       0, smaller, 21, 20, 13, {10, "over"},           {},                        {17, "overflow"},
     {.accuracy = &Accuracy::overflow, .totals = &Totals::overflow}, "results beyond the largest number of the format"},
    {"underflow",               "",       0, smaller, 22, 21, 14, {11, "under"},          {},                        {18, "underflow"},
     {.accuracy = &Accuracy::underflow, .totals = &Totals::underflow}, "results below the smallest normal number that lost bits"},
    {"flushed_to_zero",         "",       0, smaller, 23, 22, 0,  {},                     {},                        {},
     {.accuracy = &Accuracy::flushed_to_zero, .totals = &Totals::flushed_to_zero}, "results other than zero that became zero"},
    {"images",                  "",       0, neither, 0,  0,  0,  {},                     {},                        {},
     {.steps = [](const StepFigures& of) { return static_cast<std::uint64_t>(of.images); }}, "samples that the recorded steps trained on"},
    {"images_per_second",       "1/s",    0, larger,  0,  10, 0,  {},                     {},                        {},
     {.steps = &StepFigures::images_per_second}, "images that the recorded steps trained on, over the time"},
    {"gradient_sparsity",       "%",      0, neither, 0,  16, 0,  {},                     {},                        {},
     {.steps = &StepFigures::gradient_sparsity}, "zeros of A in both gradient passes, weighted by MACs"},
    {"ideal_speedup",           "x",      2, larger,  0,  0,  0,  {},                     {},                        {},
     {.steps = [](const StepFigures& of) { return ideal_speedup(of.gradient_sparsity); }}, "if every MAC on a zero gradient cost nothing"},
  };
  return table;
}
// clang-format on

namespace {

template <typename Place>
std::vector<const Figure*> sorted(Place place_of) {
  std::vector<const Figure*> chosen;
  for (const Figure& figure : figures()) {
    if (place_of(figure) > 0) chosen.push_back(&figure);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](const Figure* one, const Figure* other) { return place_of(*one) < place_of(*other); });
  return chosen;
}

std::string text_of(const Figure& figure, double value, int decimals) {
  if (figure.decimals > 0) return fixed_text(value, decimals);
  if (figure.unit == "%") return percent_text(value);
  if (figure.unit == "B") return bytes_text(value);
  if (figure.unit == "J") return energy_text(value);
  if (figure.unit == "s") return time_text(value);
  return with_prefix(value);
}

// Of a pass, or of totals.
template <typename Of>
std::string shown_text(const Figure& figure, Column::Show show, const Of& of) {
  using enum Column::Show;
  const auto number_of = [&of](const Figure& one) { return as_double(value_of(one, of).value_or(no_value)); };
  const double value = number_of(figure);
  if (show == share || show == joined) {
    double whole = 0;
    for (const Figure& one : figures()) {
      if (std::count(figure.whole.begin(), figure.whole.end(), one.key) > 0) whole += number_of(one);
    }
    return show == share ? percent_text(ratio(value, whole)) : fixed_text(100 * ratio(value, whole), 0);
  }
  if (figure.unit == "dB" && std::isinf(value) && value > 0) return "exact";
  return text_of(figure, value, figure.decimals) + (figure.unit == "x" && !std::isnan(value) ? "x" : "");
}

}  // namespace

std::vector<const Figure*> placed(int Figure::*output) {
  return sorted([output](const Figure& figure) { return figure.*output; });
}

std::vector<const Figure*> placed(Column Figure::*table) {
  return sorted([table](const Figure& figure) { return (figure.*table).place; });
}

std::optional<FigureValue> value_of(const Figure& figure, const PassReport& pass) {
  const FigureSource& of = figure.of;
  if (of.cost) return of.cost(pass.cost);
  if (of.energy) return pass.energy.empty() ? no_value : of.energy(pass.energy.front(), pass.cost);
  if (of.accuracy) return of.accuracy(pass.accuracy);
  return of.pass ? std::optional(of.pass(pass)) : std::nullopt;
}

std::optional<FigureValue> value_of(const Figure& figure, const Totals& totals) {
  const FigureSource& of = figure.of;
  if (of.cost) return of.cost(totals.cost);
  if (of.energy) return totals.energy.empty() ? no_value : of.energy(totals.energy.front(), totals.cost);
  return of.totals ? std::optional(of.totals(totals)) : std::nullopt;
}

std::optional<FigureValue> value_of(const Figure& figure, const StepFigures& steps) {
  return figure.of.steps ? std::optional(figure.of.steps(steps)) : std::nullopt;
}

std::string cell_text(const Figure& figure, Column::Show show, const PassReport& pass) {
  return figure.products_only && !is_gemm(pass) ? "-" : shown_text(figure, show, pass);
}

std::string cell_text(const Figure& figure, Column::Show show, const Totals& totals) {
  return shown_text(figure, show, totals);
}

std::string full_text(const Figure& figure, double value) {
  if (figure.unit == "TOPS") return operations_text(value * 1e12);
  std::string text = text_of(figure, value, figure.decimals + 1);
  if (figure.decimals == 0) return text;
  return text + (figure.unit == "x" ? "" : " ") + std::string(figure.unit);
}

std::string page_columns() {
  const auto columns_of = [](Column Figure::*table) {
    OrderedJson columns = OrderedJson::array();
    for (const Figure* figure : placed(table)) {
      const Column& column = figure->*table;
      if (column.show == Column::Show::line) continue;
      const bool share = column.show == Column::Show::share || column.show == Column::Show::joined;
      columns.push_back({{"key", figure->key},
                         {"title", column.show == Column::Show::joined ? figure->page.title : column.title},
                         {"meaning", figure->meaning},
                         {"unit", figure->unit},
                         {"decimals", figure->decimals},
                         {"products_only", figure->products_only},
                         {"exact", figure->exact},
                         {"share_of", share ? figure->whole : decltype(figure->whole){}}});
    }
    return columns;
  };
  return json_text(OrderedJson{{"passes", columns_of(&Figure::page)}, {"totals", columns_of(&Figure::total)}},
                   -1);
}

}  // namespace mantissa
