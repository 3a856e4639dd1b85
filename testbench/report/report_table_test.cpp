// The tables of the terminal: aligned, safe, and what a person looks for is there.
#include "sim/report/report_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "sim/support/text_table.hpp"
#include "sim/support/user_text.hpp"
#include "testbench/report/example_report.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TextTable, HumanUnits) {
  EXPECT_EQ(with_prefix(0), "0");
  EXPECT_EQ(with_prefix(7), "7");
  EXPECT_EQ(with_prefix(999), "999");
  EXPECT_EQ(with_prefix(1000), "1.00k");
  EXPECT_EQ(with_prefix(999600), "1.00M");
  EXPECT_EQ(with_prefix(123456789), "123M");
  EXPECT_EQ(with_prefix(2.5), "2.50");
  EXPECT_EQ(with_prefix(1e18), "1000P");
  EXPECT_EQ(with_prefix(std::nan("")), "-");
  EXPECT_EQ(energy_text(0), "0.00 pJ");
  EXPECT_EQ(energy_text(0.25), "250 fJ");
  EXPECT_EQ(energy_text(1500), "1.50 nJ");
  EXPECT_EQ(energy_text(12.34e6), "12.3 uJ");
  EXPECT_EQ(bytes_text(64), "64.0 B");
  EXPECT_EQ(bytes_text(65536), "65.5 kB");
  EXPECT_EQ(time_text(0.0032), "3.20 ms");
  EXPECT_EQ(percent_text(0.1234), "12.3%");
}

TEST(TextTable, LongNamesLoseTheirMiddle) {
  EXPECT_EQ(shortened_in_the_middle("conv1", 10), "conv1");
  EXPECT_EQ(shortened_in_the_middle("abcdefghijklmnop", 10), "abc…klmnop");
  EXPECT_EQ(shortened_in_the_middle("ñandúñandúñandú", 7), "ña…andú");  // characters, not bytes
  EXPECT_EQ(width_of(shortened_in_the_middle(std::string(100, 'x'), 20)), 20U);
  EXPECT_EQ(shortened_in_the_middle("abc", 1), "…");
}

TEST(TextTable, NothingHarmsATerminal) {
  EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\u007f");
  EXPECT_EQ(printable("\xC2\x9B"), "\\u009b");                 // CSI in its C1 form
  EXPECT_EQ(printable("\xC3\xB1"), "\xC3\xB1");                // a letter
  EXPECT_EQ(printable("\xFF\xC3"), "\uFFFD\uFFFD");            // no UTF-8
  EXPECT_EQ(printable("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  for (const std::string mark : {"\u061C", "\u200B", "\u200E", "\u2028", "\u202E", "\u2066", "\uFEFF"})
    EXPECT_EQ(printable(mark).substr(0, 2), "\\u") << mark;
  EXPECT_EQ(printable("\U000E0041"), "\\udb40\\udc41");  // as JSON writes it
  EXPECT_EQ(printable("\xE2\x82\xAC\xF0\x9F\x98\x80"), "\xE2\x82\xAC\xF0\x9F\x98\x80");
}

TEST(TextTable, EscapesItsCellsAndTitles) {
  TextTable table({{"\x1b[2J", TextTable::Align::left}});
  table.row({"a\nforged"});
  EXPECT_EQ(table.text(), "\\x1b[2J\n-----------\na\\x0aforged\n");
}

TEST(TextTable, ColumnsAreAligned) {
  TextTable table({{"name", TextTable::Align::left}, {"n"}});
  table.row({"ñ", "1"});
  table.rule();
  table.row({"longer", "1234"});
  EXPECT_EQ(table.text(1), " name       n\n ------  ----\n ñ          1\n ------  ----\n longer  1234\n");
}

TEST(ReportTable, OneTablePerPassAndTheSummaryLast) {
  const ReplayReport report = example_report();
  const std::string text = report_text(report, true);
  const std::size_t forward = text.find("Forward (");
  const std::size_t input = text.find("Input gradient (");
  const std::size_t weight = text.find("Weight gradient (");
  ASSERT_NE(weight, std::string::npos);
  EXPECT_LT(forward, input);
  EXPECT_LT(input, weight);
  EXPECT_LT(weight, text.find("\nTotal "));
  const std::vector<std::string> lines = lines_of(text);
  EXPECT_EQ(lines.back().rfind("energy per MAC: table45 (45 nm, 0.90 V) ", 0), 0U) << lines.back();
  EXPECT_TRUE(contains(lines.back(), " | table40 (40 nm) "));
  for (const char* word : {"pJ executed", "pJ dense", "% derived"})
    EXPECT_TRUE(contains(lines.back(), word)) << word;
  for (const char* word :
       {"lognormal-sparse", "seed 1", "500 MHz", "images/s", "made up for the tests", "note: layer pool1"})
    EXPECT_TRUE(contains(text, word)) << word;
  for (const std::string& line : lines) EXPECT_LE(width_of(line), 160U) << line;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (contains(lines[i], "MxNxK")) {
      EXPECT_LE(width_of(lines[i]), 132U);
    }
  }
}

TEST(ReportTable, EnergyPerMacByHand) {
  const ReplayReport report = tiny_report();
  const std::string text = summary(report, total(report));
  EXPECT_TRUE(contains(
      text, "energy per MAC: table45 (45 nm, 0.90 V) 2.40 pJ executed, 1.50 pJ dense, 25% derived\n"))
      << text;
}

TEST(ReportTable, ATotalBeyondTheTableHasALine) {
  const ReplayReport report = tiny_report();
  const std::string text = summary(report, total(report));
  EXPECT_TRUE(contains(text, "\nDRAM traffic: 1.10x, bytes moved over the sizes of the tensors")) << text;
}

TEST(ReportTable, WarningsAreTheFirstLines) {
  ReplayReport report = tiny_report();
  report.notes = {"by the way"};
  report.warnings = {"17 results are Inf", "mind the gap"};
  const std::vector<std::string> lines = lines_of(report_text(report, false));
  EXPECT_EQ(lines[0], "warning: 17 results are Inf");
  EXPECT_EQ(lines[1], "warning: mind the gap");
  EXPECT_EQ(lines[2].rfind("trace tiny", 0), 0U) << lines[2];
  EXPECT_TRUE(summary_line(report).ends_with(", 2 warnings\n")) << summary_line(report);
  EXPECT_TRUE(summary_line(tiny_report()).ends_with("DRAM traffic 1.10x\n"));
}

TEST(ReportTable, DenseEquivalentThroughputComesFirst) {
  ReplayReport report = tiny_report();
  report.clock_mhz = 1e6;
  const std::string text = summary(report, total(report));
  EXPECT_TRUE(contains(text, "\nthroughput: 5.333 TOPS dense-equivalent, 3.333 executed, ")) << text;
  EXPECT_TRUE(contains(text, "  TOPS eq   exec  ")) << text;
  EXPECT_TRUE(contains(text, "    5.333  3.333  ")) << text;
}

TEST(ReportTable, StepsAreCountedAndStandApart) {
  ReplayReport report = tiny_report();
  EXPECT_TRUE(contains(report_text(report, false), ", 1 step, 4 images, engine"));
  EXPECT_FALSE(contains(report_text(report, false), "\nStep "));
  report.passes[1].step = 9;
  report.steps = {{0, 3}, {9, 1}};
  const std::string text = report_text(report, false);
  EXPECT_TRUE(contains(text, ", 2 steps, 4 images, engine")) << text;
  const std::size_t total_row = text.find("\nTotal ");
  const std::size_t first = text.find("\nStep 0 ");
  const std::size_t second = text.find("\nStep 9 ");
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(total_row, first);
  EXPECT_LT(first, second);
}

TEST(ReportTable, WhatAccumulatorsLoseStandsBesideTheWhole) {
  ReplayReport report = tiny_report();
  const auto says = [&report](const std::string& words) {
    return contains(summary(report, total(report)), words);
  };
  EXPECT_TRUE(
      says("SQNR 25.5 dB at worst, 25.5 dB median; sums alone 100.0 dB at worst, 100.0 dB median, 1 "
           "product exact; of"))
      << summary(report, total(report));
  report.passes[0].accumulator = report.passes[1].accumulator;
  EXPECT_TRUE(says("dB median; sums exact; of"));
  EXPECT_TRUE(contains(pass_table(tiny_report(), Pass::forward), "100.0"));
}

TEST(ReportTable, EnergyOfPartsHasNoTotal) {
  ReplayReport report = tiny_report();
  for (PassReport& pass : report.passes) pass.energy[0].has_total = false;
  const std::string text = report_text(report, true);
  EXPECT_TRUE(contains(text, "table45 (45 nm, 0.90 V) - pJ executed, - pJ dense, -% derived\n")) << text;
  for (const std::string& line : lines_of(text)) {
    EXPECT_FALSE(line.starts_with("table45") && contains(line, "nJ")) << line;
  }
}

TEST(ReportTable, RowsShowTheFiguresOfAPass) {
  const std::string table = pass_table(tiny_report(), Pass::weight_gradient);
  const std::vector<std::string> lines = lines_of(table);
  ASSERT_EQ(lines.size(), 4U) << table;
  for (const char* word :
       {"fc", "5x10x4", "75.0%", " 50 ", "40/10/10", "25.0%", "2.00x", "110 B", "200 pJ", "4.00", "exact"})
    EXPECT_TRUE(contains(lines[3], word)) << word << "\n" << table;
  EXPECT_FALSE(contains(lines[1], "step"));  // there is only one
  EXPECT_TRUE(contains(pass_table(example_report(), Pass::forward), "step"));
}

TEST(ReportTable, StagingStandsBesideItsBound) {
  const ReplayReport report = example_report();
  const std::string table = staging_table(report, total(report));
  const std::vector<std::string> lines = lines_of(table);
  ASSERT_EQ(lines.size(), 7U) << table;
  EXPECT_TRUE(contains(lines[1], "Depth 1  Depth 2  Depth 4  bound"));
  EXPECT_TRUE(contains(lines[4], "Port 4     1.57x    1.88x    2.00x")) << table;
  EXPECT_TRUE(contains(lines[4], fixed_text(ideal_speedup(total(report).gradient_sparsity), 2) + "x"));
  EXPECT_EQ(staging_table(tiny_report(), total(tiny_report())), "");
}

TEST(ReportTable, HostileNamesStayText) {
  ReplayReport report = tiny_report();
  report.passes[0].layer = "\x1b]0;owned\x07" + std::string(200, 'x');
  report.trace = "\x1b[2J";
  report.notes = {"\x1b[31m"};
  report.tables[0].source = "\xFF\x1b";
  const std::string text = report_text(report, true);
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\x07"));
  EXPECT_FALSE(contains(text, "\xFF"));
}

TEST(ReportTable, AReportWithoutPassesIsStillShown) {
  ReplayReport report = tiny_report();
  report.passes.clear();
  EXPECT_TRUE(contains(report_text(report, false), "energy per MAC: table45 (45 nm, 0.90 V) - pJ executed"));
}

}  // namespace
}  // namespace mantissa::test
