// Sums by hand, and a report that breaks a law is refused.
#include "sim/report/totals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "testbench/report/example_report.hpp"

namespace mantissa::test {
namespace {

TEST(Totals, SumsOfTwoPassesByHand) {
  const ReportTotals totals = total(tiny_report());
  const Totals& all = totals.overall;
  EXPECT_EQ(all.passes, 2U);
  EXPECT_EQ(all.cost.cycles(), 150U);
  EXPECT_EQ(all.cost.stall_load, 40U);
  EXPECT_EQ(all.cost.macs, 250U);
  EXPECT_EQ(all.cost.skipped, 150U);
  EXPECT_EQ(all.dense_cycles, 200U);
  EXPECT_EQ(all.suppressed, 3U);
  EXPECT_DOUBLE_EQ(all.seconds, 150e-6);
  EXPECT_DOUBLE_EQ(all.utilization, 250.0 / 600);
  EXPECT_DOUBLE_EQ(all.tops, 500 / 150e-6 / 1e12);
  EXPECT_DOUBLE_EQ(all.dense_tops, 800 / 150e-6 / 1e12);
  EXPECT_DOUBLE_EQ(all.speedup, 200.0 / 150);
  EXPECT_DOUBLE_EQ(totals.images_per_second, 4 / 150e-6);
  EXPECT_DOUBLE_EQ(totals.gradient_sparsity, 0.75);
  ASSERT_EQ(all.energy.size(), 1U);
  EXPECT_DOUBLE_EQ(all.energy[0].total_pj(), 600);
  EXPECT_DOUBLE_EQ(pj_per_mac_executed(all.energy[0], all.cost), 600.0 / 250);
  EXPECT_DOUBLE_EQ(pj_per_mac_dense(all.energy[0], all.cost), 600.0 / 400);
  EXPECT_DOUBLE_EQ(derived_share(all.energy[0]), 150.0 / 600);
  EXPECT_DOUBLE_EQ(all.min_sqnr_db, 25.5);
  EXPECT_EQ(all.exact, 1U);
  EXPECT_EQ(all.overflow, 2U);
}

TEST(Totals, SumsOfAccumulatorsByHand) {
  ReplayReport report = tiny_report();
  const auto all = [&report] { return total(report).overall; };
  EXPECT_EQ(all().accumulator_exact, 1U);
  EXPECT_DOUBLE_EQ(all().min_accumulator_sqnr_db, 100);
  EXPECT_DOUBLE_EQ(all().median_accumulator_sqnr_db, 100);
  report.passes[1].accumulator.sqnr_db = 60;
  EXPECT_EQ(all().accumulator_exact, 0U);
  EXPECT_DOUBLE_EQ(all().min_accumulator_sqnr_db, 60);
  EXPECT_DOUBLE_EQ(all().median_accumulator_sqnr_db, 80);
}

// The gradient at a second step, of one image.
TEST(Totals, StepsStandApart) {
  ReplayReport report = tiny_report();
  report.passes[1].step = 9;
  report.steps = {{0, 3}, {9, 1}};
  const ReportTotals totals = total(report);
  EXPECT_EQ(totals.images, 4);
  ASSERT_EQ(totals.by_step.size(), 2U);
  const StepTotals& first = totals.by_step[0];
  EXPECT_EQ(first.step, 0U);
  EXPECT_EQ(first.images, 3);
  EXPECT_EQ(first.totals.cost.cycles(), 100U);
  EXPECT_DOUBLE_EQ(first.images_per_second, 3 / 100e-6);
  EXPECT_TRUE(std::isnan(first.gradient_sparsity));
  const StepTotals& second = totals.by_step[1];
  EXPECT_EQ(second.step, 9U);
  EXPECT_EQ(second.totals.cost.cycles(), 50U);
  EXPECT_DOUBLE_EQ(second.images_per_second, 1 / 50e-6);
  EXPECT_DOUBLE_EQ(second.gradient_sparsity, 0.75);
  EXPECT_DOUBLE_EQ(second.totals.tops, 100 / 50e-6 / 1e12);
  EXPECT_DOUBLE_EQ(second.totals.dense_tops, 400 / 50e-6 / 1e12);
}

// One pass without its memory is enough: what is left would pass for the whole.
TEST(Totals, EnergyOfPartsHasNoTotal) {
  ReplayReport report = tiny_report();
  report.passes[1].energy[0].has_total = false;
  const Totals all = total(report).overall;
  EXPECT_TRUE(std::isnan(total_energy_pj(all.energy[0])));
  EXPECT_TRUE(std::isnan(pj_per_mac_executed(all.energy[0], all.cost)));
  EXPECT_TRUE(std::isnan(pj_per_mac_dense(all.energy[0], all.cost)));
  EXPECT_TRUE(std::isnan(derived_share(all.energy[0])));
  EXPECT_DOUBLE_EQ(all.energy[0].components[0].pj, 450);
  EXPECT_DOUBLE_EQ(total_energy_pj(total(report).by_pass[0].energy[0]), 400);
}

TEST(Totals, PassesAddUpToTheWhole) {
  const ReportTotals totals = total(example_report());
  GemmCycles cost;
  double pj = 0;
  std::uint64_t passes = 0;
  for (const Totals& pass : totals.by_pass) {
    cost += pass.cost;
    pj += pass.energy[1].total_pj();
    passes += pass.passes;
    EXPECT_TRUE(pass.passes == 0 || pass.utilization <= 1);
  }
  GemmCycles work_cost;
  for (const Totals& work : totals.by_work) work_cost += work.cost;
  EXPECT_EQ(work_cost, totals.overall.cost);
  EXPECT_EQ(cost, totals.overall.cost);
  EXPECT_EQ(passes, example_report().passes.size());
  EXPECT_NEAR(pj, totals.overall.energy[1].total_pj(), 1e-9 * pj);
}

TEST(Totals, WhatDoesNotExistIsNotANumber) {
  ReplayReport report = tiny_report();
  report.passes.clear();
  const ReportTotals totals = total(report);
  EXPECT_EQ(totals.overall.cost.cycles(), 0U);
  for (const double figure :
       {totals.overall.utilization, totals.overall.speedup, totals.overall.tops,
        totals.overall.median_sqnr_db, totals.images_per_second, totals.gradient_sparsity}) {
    EXPECT_TRUE(std::isnan(figure));
  }
}

TEST(Totals, TheBoundIsThatOfThreePasses) {
  EXPECT_DOUBLE_EQ(ideal_speedup(0), 1);
  EXPECT_DOUBLE_EQ(ideal_speedup(1), 3);
  EXPECT_NEAR(ideal_speedup(0.85), 2.31, 0.005);  // ARITHMETIC.md 7
}

struct Violation {
  const char* word;  // that the complaint must contain
  std::function<void(ReplayReport&)> make;
};

TEST(Totals, AReportThatBreaksALawIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Violation> violations{
      {"macs + skipped", [](ReplayReport& r) { ++r.passes[1].cost.skipped; }},
      {"macs + skipped", [](ReplayReport& r) { --r.passes[0].scheduled_macs; }},
      {"more MACs", [](ReplayReport& r) { ++r.passes[0].scheduled_macs; }},
      {"fit 64 bits",
       [](ReplayReport& r) { r.passes[0].gemm.m = r.passes[0].gemm.n = std::int64_t{1} << 40; }},
      {"negative size", [](ReplayReport& r) { r.passes[0].gemm.m = -4; }},
      {"not in 0..1", [](ReplayReport& r) { r.passes[0].utilization = 1.01; }},
      {"not in 0..1", [nan](ReplayReport& r) { r.passes[0].utilization = nan; }},
      {"is not MACs", [](ReplayReport& r) { r.passes[0].utilization = 0.51; }},
      {"negative number of cycles", [](ReplayReport& r) { r.passes[0].cost.stall_load = -std::uint64_t{1}; }},
      {"fewer bytes moved", [](ReplayReport& r) { r.passes[1].cost.dram_bytes = 99; }},
      {"dense run", [](ReplayReport& r) { r.passes[0].dense_cycles = 0; }},
      {"energy of dram", [](ReplayReport& r) { r.passes[0].energy[0].components[0].pj = -1; }},
      {"energy of dram", [nan](ReplayReport& r) { r.passes[0].energy[0].components[0].pj = nan; }},
      {"energy of multiply", [](ReplayReport& r) { r.passes[0].energy[0].components[1].derived_pj = 101; }},
      {"energy of 0 tables", [](ReplayReport& r) { r.passes[0].energy.clear(); }},
      {"in the place of", [](ReplayReport& r) { r.passes[0].energy[0].table = "other"; }},
      {"without products has MACs", [](ReplayReport& r) { r.passes[0].kind = trace::LayerKind::batchnorm; }},
      {"without products has MACs", [](ReplayReport& r) { r.passes[0].pass = Pass::update; }},
      {"no clock", [](ReplayReport& r) { r.clock_mhz = 0; }},
      {"no array", [](ReplayReport& r) { r.rows = 0; }},
  };
  EXPECT_NO_THROW(check_conservation(tiny_report()));
  for (const Violation& violation : violations) {
    ReplayReport report = tiny_report();
    violation.make(report);
    try {
      total(report);
      ADD_FAILURE() << "not refused: " << violation.word;
    } catch (const std::logic_error& error) {
      EXPECT_NE(std::string(error.what()).find(violation.word), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace mantissa::test
