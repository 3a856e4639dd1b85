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
      EXPECT_LE(width_of(lines[i]), 128U);
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
