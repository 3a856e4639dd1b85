// layers.csv read back field by field.
#include "sim/report/report_csv.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "sim/report/totals.hpp"
#include "testbench/report/example_report.hpp"

namespace mantissa::test {
namespace {

using Fields = std::vector<std::string>;

// RFC 4180.
std::vector<Fields> parsed(const std::string& text) {
  std::vector<Fields> lines{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const bool doubled = quoted && i + 1 < text.size() && text[i + 1] == '"';
      if (doubled) lines.back().back() += text[i++];
      if (!doubled) quoted = !quoted;
    } else if (!quoted && c == ',') {
      lines.back().emplace_back();
    } else if (!quoted && c == '\n') {
      lines.push_back({""});
    } else {
      lines.back().back() += c;
    }
  }
  EXPECT_EQ(lines.back(), Fields{""});  // the text ends with a line end
  lines.pop_back();
  return lines;
}

std::map<std::string, std::string> record(const std::vector<Fields>& lines, std::size_t number) {
  std::map<std::string, std::string> fields;
  EXPECT_EQ(lines.at(number).size(), lines[0].size());
  for (std::size_t i = 0; i < lines[0].size(); ++i) fields[lines[0][i]] = lines[number][i];
  return fields;
}

TEST(ReportCsv, FieldsByHand) {
  ReplayReport report = tiny_report();
  report.passes[0].layer = "a,\"b\"\nc";
  report.passes[0].cost.dram_bytes = report.passes[0].cost.tensor_bytes = 0;  // a machine without memory
  const std::vector<Fields> lines = parsed(report_csv(report));
  ASSERT_EQ(lines.size(), 3U);
  auto forward = record(lines, 1);
  EXPECT_EQ(forward["layer"], R"(a,"b"\x0ac)");
  EXPECT_EQ(forward["sqnr_db"], "25.5");
  EXPECT_EQ(forward["traffic_factor"], "");
  EXPECT_EQ(forward["table45_total_pj"], "400");
  EXPECT_EQ(forward["table45_pj_per_mac_executed"], "2");
  auto gradient = record(lines, 2);
  EXPECT_EQ(gradient["pass"], "weight_gradient");
  EXPECT_EQ(gradient["skipped_macs"], "150");
  EXPECT_EQ(gradient["speedup"], "2");
  EXPECT_EQ(gradient["traffic_factor"], "1.1");
  EXPECT_EQ(gradient["sqnr_db"], "inf");
  EXPECT_EQ(gradient["cosine"], "");
  EXPECT_EQ(gradient["table45_dram_pj"], "150");
  EXPECT_EQ(gradient["table45_pj_per_mac_dense"], "1");
}

// A spreadsheet must take every name for text, and every number for a number.
TEST(ReportCsv, NoFieldIsAFormula) {
  for (const std::string name : {"=1+2", "+1", "-1", "@SUM(A1)", "\uFF1D1", R"(=HYPERLINK("a","b"))"}) {
    ReplayReport report = tiny_report();
    report.passes[0].layer = name;
    report.passes[0].formats = name;
    report.tables[0].name = name;
    for (auto& pass : report.passes) pass.energy[0].table = name;
    report.passes[0].accuracy.sqnr_db = -1.5;
    const std::vector<Fields> lines = parsed(report_csv(report));
    ASSERT_EQ(lines.size(), 3U);
    for (const std::string& title : lines[0]) EXPECT_FALSE(title.starts_with(name)) << title;
    auto forward = record(lines, 1);
    EXPECT_EQ(forward["layer"], "'" + name);
    EXPECT_EQ(forward["formats"], "'" + name);
    EXPECT_EQ(forward["sqnr_db"], "-1.5");
  }
  ReplayReport report = tiny_report();
  report.passes[0].layer = "\t=1\r\x1b[2J\u202E";
  const std::vector<Fields> lines = parsed(report_csv(report));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(record(lines, 1)["layer"], R"(\x09=1\x0d\x1b[2J\u202e)");
}

TEST(ReportCsv, OneLinePerLayerAndPassWithEveryTable) {
  const ReplayReport report = example_report();
  const std::vector<Fields> lines = parsed(report_csv(report));
  ASSERT_EQ(lines.size(), report.passes.size() + 1);
  for (std::size_t i = 0; i < report.passes.size(); ++i) {
    auto fields = record(lines, i + 1);
    EXPECT_EQ(fields["cycles"], std::to_string(report.passes[i].cost.cycles()));
    EXPECT_EQ(std::stod(fields["table40_sram_pj"]), report.passes[i].energy[1].components[4].pj);
    if (!is_gemm(report.passes[i])) {
      EXPECT_EQ(fields["K"], "0");
      EXPECT_EQ(fields["table45_pj_per_mac_executed"], "");
    }
  }
}

}  // namespace
}  // namespace mantissa::test
