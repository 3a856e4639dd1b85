#include "sim/report/totals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace mantissa {
namespace {

std::string where(const PassReport& pass) {
  return "step " + std::to_string(pass.step) + ", layer " + pass.layer + ", pass " +
         std::string(name_of(pass.pass));
}

[[noreturn]] void violated(const PassReport& pass, const std::string& law) {
  throw std::logic_error("replay report: " + where(pass) + ": " + law);
}

// M * N * K * groups; throws if that does not fit 64 bits.
std::uint64_t product_size(const PassReport& pass) {
  std::uint64_t product = 1;
  for (const std::int64_t factor : {pass.gemm.m, pass.gemm.n, pass.gemm.k, pass.groups}) {
    if (factor < 0) violated(pass, "a negative size");
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(factor), &product))
      violated(pass, "M*N*K*groups does not fit 64 bits");
  }
  return product;
}

// A cycle count that was subtracted below zero is a huge one.
void check_counts(const PassReport& pass) {
  constexpr std::uint64_t most = std::uint64_t{1} << 60;
  const GemmCycles& cost = pass.cost;
  for (const std::uint64_t count : {cost.compute, cost.stall_load, cost.stall_write_back, cost.stall_drain,
                                    cost.dram_bytes, cost.sram_bytes, pass.dense_cycles}) {
    if (count > most) violated(pass, "a negative number of cycles or bytes");
  }
  if (cost.dram_bytes < std::min(cost.dram_bytes_unique, cost.tensor_bytes))
    violated(pass, "fewer bytes moved than its tensors have");
  if (!is_gemm(pass)) {
    if (dense_macs(cost) != 0) violated(pass, "a pass without products has MACs");
    return;
  }
  // A machine may leave holes out, and nothing else.
  if (pass.scheduled_macs > product_size(pass)) violated(pass, "more MACs scheduled than M*N*K*groups");
  if (dense_macs(cost) != pass.scheduled_macs) {
    violated(pass, "macs + skipped = " + std::to_string(cost.macs) + " + " + std::to_string(cost.skipped) +
                       ", but " + std::to_string(pass.scheduled_macs) + " were scheduled");
  }
  if (pass.dense_cycles == 0 && cost.cycles() != 0) violated(pass, "no cycles of the dense run");
}

void check_utilization(const ReplayReport& report, const PassReport& pass) {
  constexpr double rounding = 1e-9;
  if (!(pass.utilization >= 0 && pass.utilization <= 1))
    violated(pass, "utilization " + std::to_string(pass.utilization) + " is not in 0..1");
  if (!is_gemm(pass)) return;
  const double elements = static_cast<double>(report.rows) * report.cols;
  const auto cycles = static_cast<double>(pass.cost.cycles());
  const auto executed = static_cast<double>(pass.cost.macs);
  if (std::abs(pass.utilization * elements * cycles - executed) > rounding * std::max(1.0, executed)) {
    violated(pass, "utilization " + std::to_string(pass.utilization) +
                       " is not MACs / (rows * cols * cycles) = " + std::to_string(executed) + " / (" +
                       std::to_string(report.rows) + " * " + std::to_string(report.cols) + " * " +
                       std::to_string(pass.cost.cycles()) + ")");
  }
}

void check_energy(const ReplayReport& report, const PassReport& pass) {
  if (pass.energy.size() != report.tables.size()) {
    violated(pass, "energy of " + std::to_string(pass.energy.size()) + " tables, but the report has " +
                       std::to_string(report.tables.size()));
  }
  for (std::size_t i = 0; i < pass.energy.size(); ++i) {
    const Energy& energy = pass.energy[i];
    if (energy.table != report.tables[i].name)
      violated(pass, "energy of table " + energy.table + " in the place of " + report.tables[i].name);
    double sum = 0;
    for (const EnergyComponent& component : energy.components) {
      const bool sane = std::isfinite(component.pj) && component.derived_pj >= 0 &&
                        component.derived_pj <= component.pj * (1 + 1e-12);
      if (!sane) violated(pass, "energy of " + component.name + " is negative or not a number");
      sum += component.pj;
    }
    if (std::abs(energy.total_pj() - sum) > 1e-9 * sum)
      violated(pass, "total energy of table " + energy.table + " is not the sum of its parts");
  }
}

double smallest(const std::vector<double>& values) {
  return values.empty() ? no_value : *std::min_element(values.begin(), values.end());
}

double median(std::vector<double> values) {
  if (values.empty()) return no_value;
  const std::size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Gathers passes into totals; the derived figures come last.
class Sum {
 public:
  explicit Sum(const ReplayReport& report) : report_(report) {
    for (const EnergyTable& table : report.tables)
      totals_.energy.push_back({.table = table.name, .components = {}});
  }

  void add(const PassReport& pass) {
    ++totals_.passes;
    totals_.cost += pass.cost;
    totals_.dense_cycles += dense_cycles(pass);
    totals_.suppressed += pass.suppressed;
    for (std::size_t i = 0; i < pass.energy.size(); ++i) totals_.energy[i] += pass.energy[i];
    const Accuracy& accuracy = pass.accuracy;
    totals_.elements += accuracy.elements;
    totals_.nonfinite += accuracy.nonfinite;
    totals_.overflow += accuracy.overflow;
    totals_.underflow += accuracy.underflow;
    totals_.flushed_to_zero += accuracy.flushed_to_zero;
    if (!is_gemm(pass)) return;  // norms in wide formats would hide what the products lose
    if (std::isfinite(accuracy.sqnr_db)) sqnr_.push_back(accuracy.sqnr_db);
    if (std::isinf(accuracy.sqnr_db) && accuracy.sqnr_db > 0) ++totals_.exact;
    const double sums = pass.accumulator.sqnr_db;
    if (std::isfinite(sums)) accumulator_sqnr_.push_back(sums);
    if (std::isinf(sums) && sums > 0) ++totals_.accumulator_exact;
  }

  Totals result() const {
    Totals totals = totals_;
    const auto cycles = static_cast<double>(totals.cost.cycles());
    const auto executed = static_cast<double>(totals.cost.macs);
    const double per_second = report_.clock_mhz * 1e6;
    totals.seconds = cycles / per_second;
    totals.utilization = ratio(executed, static_cast<double>(report_.rows) * report_.cols * cycles);
    totals.tops = ratio(2 * executed, totals.seconds) / 1e12;
    totals.dense_tops = ratio(2 * dense_macs(totals.cost), totals.seconds) / 1e12;
    totals.speedup = ratio(totals.dense_cycles, cycles);
    totals.min_sqnr_db = smallest(sqnr_);
    totals.median_sqnr_db = median(sqnr_);
    totals.min_accumulator_sqnr_db = smallest(accumulator_sqnr_);
    totals.median_accumulator_sqnr_db = median(accumulator_sqnr_);
    return totals;
  }

 private:
  const ReplayReport& report_;
  Totals totals_;
  std::vector<double> sqnr_;
  std::vector<double> accumulator_sqnr_;
};

// Zeros of A in both gradient passes, weighted by MACs, of the passes that belong.
template <class Belongs>
double gradient_sparsity(const ReplayReport& report, const Belongs& belongs) {
  double zeros = 0;
  double gradient_macs = 0;
  for (const PassReport& pass : report.passes) {
    if (pass.pass == Pass::forward || !is_gemm(pass) || !belongs(pass)) continue;
    const auto macs = static_cast<double>(dense_macs(pass.cost));
    zeros += pass.operand_sparsity * macs;
    gradient_macs += macs;
  }
  return ratio(zeros, gradient_macs);
}

template <class Belongs>
Totals sum_of(const ReplayReport& report, const Belongs& belongs) {
  Sum sum(report);
  for (const PassReport& pass : report.passes) {
    if (belongs(pass)) sum.add(pass);
  }
  return sum.result();
}

template <class Belongs>
StepFigures step_figures(const ReplayReport& report, std::int64_t images, const Totals& totals,
                         const Belongs& belongs) {
  return {.images = images,
          .images_per_second = ratio(images, totals.seconds),
          .gradient_sparsity = gradient_sparsity(report, belongs)};
}

}  // namespace

std::string_view name_of(Work work) {
  switch (work) {
    case Work::products:
      return "products";
    case Work::norms:
      return "norms";
    case Work::updates:
      return "updates";
  }
  throw std::logic_error("a kind of work without a name");
}

void check_conservation(const ReplayReport& report) {
  if (report.rows <= 0 || report.cols <= 0 || !(report.clock_mhz > 0))
    throw std::logic_error("replay report: no array or no clock");
  for (const PassReport& pass : report.passes) {
    check_counts(pass);
    check_utilization(report, pass);
    check_energy(report, pass);
  }
}

ReportTotals total(const ReplayReport& report) {
  check_conservation(report);
  ReportTotals totals;
  const auto every = [](const PassReport&) { return true; };
  totals.overall = sum_of(report, every);
  static_cast<StepFigures&>(totals) = step_figures(report, images_of(report), totals.overall, every);
  for (std::size_t i = 0; i < reported_passes.size(); ++i) {
    totals.by_pass[i] =
        sum_of(report, [&](const PassReport& pass) { return pass.pass == reported_passes[i]; });
  }
  for (std::size_t i = 0; i < kinds_of_work.size(); ++i) {
    totals.by_work[i] =
        sum_of(report, [&](const PassReport& pass) { return work_of(pass) == kinds_of_work[i]; });
  }
  for (const ReportedStep& step : report.steps) {
    const auto of_step = [&](const PassReport& pass) { return pass.step == step.number; };
    StepTotals& of = totals.by_step.emplace_back();
    of.step = step.number;
    of.totals = sum_of(report, of_step);
    static_cast<StepFigures&>(of) = step_figures(report, step.images, of.totals, of_step);
  }
  return totals;
}

}  // namespace mantissa
