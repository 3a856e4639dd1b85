// Sums and derived figures of a replay, and the laws that every replay must keep: what is executed and
// skipped is the whole product, no array works more than it can, no energy is lost or negative.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "sim/report/replay_report.hpp"

namespace mantissa {

// Where there is no such figure.
inline constexpr double no_value = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::array<Pass, 4> reported_passes = {Pass::forward, Pass::input_gradient,
                                                        Pass::weight_gradient, Pass::update};

// Only products have MACs, and zeros to skip.
enum class Work : std::uint8_t { products, norms, updates };
inline constexpr std::array<Work, 3> kinds_of_work = {Work::products, Work::norms, Work::updates};
std::string_view name_of(Work work);  // "products", "norms", "updates"
inline Work work_of(const PassReport& pass) {
  if (pass.pass == Pass::update) return Work::updates;
  return pass.kind == trace::LayerKind::batchnorm ? Work::norms : Work::products;
}
inline bool is_gemm(const PassReport& pass) { return work_of(pass) == Work::products; }
// Executed and skipped.
inline std::uint64_t dense_macs(const GemmCycles& cost) { return cost.macs + cost.skipped; }
// Cycles of the same pass with skipping off, of which only products have others.
inline std::uint64_t dense_cycles(const PassReport& pass) {
  return is_gemm(pass) ? pass.dense_cycles : pass.cost.cycles();
}
// NaN where there is nothing to divide by.
template <typename A, typename B>
double ratio(A numerator, B denominator) {
  const auto whole = static_cast<double>(denominator);
  return whole > 0 ? static_cast<double>(numerator) / whole : std::numeric_limits<double>::quiet_NaN();
}
// Of all components; NaN where some are not known.
inline double total_energy_pj(const Energy& energy) {
  return energy.has_total ? energy.total_pj() : std::numeric_limits<double>::quiet_NaN();
}
inline double pj_per_mac_executed(const Energy& energy, const GemmCycles& cost) {
  return ratio(total_energy_pj(energy), cost.macs);
}
inline double pj_per_mac_dense(const Energy& energy, const GemmCycles& cost) {
  return ratio(total_energy_pj(energy), dense_macs(cost));
}
inline double derived_share(const Energy& energy) {
  return ratio(energy.derived_pj(), total_energy_pj(energy));
}

// Of several passes. A figure that does not exist (no MACs, no result with an SQNR) is NaN.
struct Totals {
  std::uint64_t passes = 0;
  GemmCycles cost;
  std::uint64_t dense_cycles = 0;
  std::uint64_t suppressed = 0;
  std::uint64_t elements = 0;  // results
  std::uint64_t nonfinite = 0;
  std::uint64_t overflow = 0;
  std::uint64_t underflow = 0;
  std::uint64_t flushed_to_zero = 0;
  std::uint64_t exact = 0;                // products without any difference to FP64
  double min_sqnr_db = 0;                 // of the products that have one
  double median_sqnr_db = 0;              // the same
  std::uint64_t accumulator_exact = 0;    // products whose sums have no difference to FP64
  double min_accumulator_sqnr_db = 0;     // of the products that have one
  double median_accumulator_sqnr_db = 0;  // the same
  std::vector<Energy> energy;             // one per table of the report

  double seconds = 0;  // at the architecture's clock
  double utilization = 0;
  double tops = 0;        // two operations per executed MAC
  double dense_tops = 0;  // skipped ones counted as if they had been executed
  double speedup = 0;     // over the dense run
};

// Of whole steps alone.
struct StepFigures {
  std::int64_t images = 0;
  double images_per_second = 0;
  double gradient_sparsity = 0;  // zeros of A in both gradient passes, weighted by MACs
};

struct StepTotals : StepFigures {
  std::uint32_t step = 0;
  Totals totals;
};

struct ReportTotals : StepFigures {
  Totals overall;
  std::array<Totals, reported_passes.size()> by_pass;
  std::array<Totals, kinds_of_work.size()> by_work;
  std::vector<StepTotals> by_step;
};

// Throws std::logic_error that names the first pass that breaks a law.
void check_conservation(const ReplayReport& report);
// The same check, then the sums.
ReportTotals total(const ReplayReport& report);

// Training speed-up if every MAC on a zero gradient cost nothing (ARITHMETIC.md 7): three passes of equal
// size, two of them shortened to the share 1 - sparsity.
inline double ideal_speedup(double gradient_sparsity) { return 3 / (1 + 2 * (1 - gradient_sparsity)); }

}  // namespace mantissa
