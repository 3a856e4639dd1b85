// `mantissa compare` on reports whose difference is known.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/report/report_json.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/report/example_report.hpp"
#include "testbench/support/contains.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

class Compare : public testing::Test {
 protected:
  std::string file(const std::string& name, const ReplayReport& report) const {
    std::string path = scratch_.path() + "/" + name;
    std::ofstream(path) << report_json(report);
    return path;
  }
  Finished compared(const ReplayReport& a, const ReplayReport& b, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"compare", file("a.json", a), file("b.json", b)});
    return run_mantissa(more);
  }
  Scratch scratch_;
};

// The tiny report with half the load stalls in the forward pass, and less accurate.
ReplayReport faster() {
  ReplayReport report = tiny_report();
  PassReport& pass = report.passes[0];
  pass.cost.stall_load = 10;
  pass.utilization = 200 / (4 * 90.0);
  pass.energy[0].components[0].pj = 200;
  pass.accuracy.sqnr_db = 22;
  pass.cost.dram_bytes = 100;
  return report;
}

TEST_F(Compare, RepeatsTheWarningsOfItsReports) {
  ReplayReport a = tiny_report();
  a.warnings = {"17 results are Inf"};
  ReplayReport b = faster();
  b.warnings = {"no memory"};
  const Finished run = compared(a, b);
  EXPECT_TRUE(contains(run.out, "\nwarning: A: 17 results are Inf\nwarning: B: no memory\n")) << run.out;
}

TEST_F(Compare, SaysWhatChangedInAbsoluteAndRelativeTerms) {
  const Finished run = compared(tiny_report(), faster());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const auto line = [&run](const std::string& start) {
    for (const std::string& one : lines_of(run.out)) {
      if (one.rfind(start, 0) == 0) return one;
    }
    return std::string();
  };
  for (const char* word : {"150", "140", "-10", "-6.7%", "better"})
    EXPECT_TRUE(contains(line("cycles "), word)) << run.out;
  for (const char* word : {"1.333x", "1.429x", "+0.095x", "+7.1%"})
    EXPECT_TRUE(contains(line("speedup "), word)) << run.out;
  for (const char* word : {"2.400 pJ", "2.000 pJ", "-0.400 pJ", "-16.7%"})
    EXPECT_TRUE(contains(line("pj_per_mac_executed (table45)"), word)) << run.out;
  for (const char* word : {"25.50 dB", "22.00 dB", "-3.50 dB", "worse"})
    EXPECT_TRUE(contains(line("min_sqnr_db"), word)) << run.out;
  for (const char* word : {" 40 ", " 30 ", "-25.0%"})
    EXPECT_TRUE(contains(line("stall_load_cycles"), word)) << run.out;
  for (const char* word : {"41.7%", "44.6%", "+3.0 points", "+7.1%"})
    EXPECT_TRUE(contains(line("utilization"), word)) << run.out;
  for (const char* word : {"1.100x", "1.050x", "-0.050x", "-4.5%"})
    EXPECT_TRUE(contains(line("traffic_factor"), word)) << run.out;
  for (const char* word : {"3.33 MOPS", "3.57 MOPS"}) EXPECT_TRUE(contains(line("tops "), word)) << run.out;
  EXPECT_TRUE(contains(line("macs "), "=")) << run.out;
  for (const char* neither : {"macs ", "derived_share"}) {
    EXPECT_FALSE(contains(line(neither), "better") || contains(line(neither), "worse")) << run.out;
  }
  EXPECT_TRUE(contains(run.out, "100 -> 90 (-10.0%)")) << run.out;
  EXPECT_TRUE(contains(run.out, "1 of 2 layers and passes changed")) << run.out;
  EXPECT_FALSE(contains(run.out, "warning")) << run.out;
}

TEST_F(Compare, JsonHasEveryChange) {
  const Finished run = compared(tiny_report(), faster(), {"--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json.at("totals").at("cycles"), Json::parse(R"({"a":150.0,"b":140.0,"change":-10.0,"relative":)" +
                                                        Json(-10.0 / 150).dump() + "}"));
  ASSERT_EQ(json.at("changed_layers").size(), 1U);
  const Json& layer = json.at("changed_layers").at(0);
  EXPECT_EQ(layer.at("pass"), "forward");
  EXPECT_EQ(layer.at("sqnr_db").at("change"), -3.5);
  EXPECT_EQ(layer.at("energy_total_pj").at("relative"), -0.25);
  EXPECT_EQ(layer.at("traffic_factor").at("b"), 1.0);
  EXPECT_FALSE(layer.contains("overflow"));  // it did not change
  EXPECT_TRUE(json.at("warnings").empty());
}

TEST_F(Compare, EqualReportsHaveNoDifference) {
  const Finished run = compared(example_report(), example_report());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines_of(run.out).back(), "no difference");
  EXPECT_TRUE(
      Json::parse(compared(example_report(), example_report(), {"--json"}).out).at("changed_layers").empty());
}

TEST_F(Compare, LayersInOneReportOnlyAreNamed) {
  const Finished run = compared(example_report(3, 1), example_report(2, 1));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "Only in A (5)")) << run.out;
  EXPECT_TRUE(contains(run.out, "step 0 features.block3.conv input_gradient")) << run.out;
  EXPECT_FALSE(contains(run.out, "Only in B")) << run.out;
  const Json json = Json::parse(compared(example_report(2, 1), example_report(3, 1), {"--json"}).out);
  EXPECT_EQ(json.at("only_in_b").size(), 5U);
}

TEST_F(Compare, DifferentQuestionsAreWarnedOf) {
  ReplayReport other = tiny_report();
  other.seed = 8;
  other.trace_hash = "dddd";
  const Finished run = compared(tiny_report(), other);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(
      contains(run.out, "warning: different traces: tiny.safetensors [aaaa] and tiny.safetensors [dddd]"))
      << run.out;
  EXPECT_TRUE(contains(run.out, "warning: different seeds: 7 and 8")) << run.out;
}

TEST_F(Compare, TheLargestChangesComeFirstAndTopLimitsThem) {
  const Finished all = compared(example_report(3, 2, 0.85), example_report(3, 2, 0.5), {"--top", "0"});
  const Finished two = compared(example_report(3, 2, 0.85), example_report(3, 2, 0.5), {"--top", "2"});
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_LT(lines_of(two.out).size(), lines_of(all.out).size());
  const auto first_changed = [](const std::string& text) {
    const std::vector<std::string> lines = lines_of(text);
    for (std::size_t i = 0; i + 3 < lines.size(); ++i) {
      if (lines[i].rfind("Largest changes of cost", 0) == 0) return lines[i + 3];
    }
    return std::string();
  };
  EXPECT_TRUE(contains(first_changed(two.out), "features.block")) << two.out;
}

TEST_F(Compare, WrongFilesAreErrors) {
  const std::string good = file("good.json", tiny_report());
  std::ofstream(scratch_.path() + "/bad.json") << "{\"a\": 1}";
  std::ofstream(scratch_.path() + "/deep.json")
      << "{\"a\":" << std::string(100000, '[') << std::string(100000, ']') << ",\"b\":1}";
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{good}, "B"},
      {{good, scratch_.path() + "/none.json"}, "no such file"},
      {{scratch_.path() + "/bad.json", good}, "not a report of mantissa"},
      {{scratch_.path(), good}, "it is a directory"},
      {{scratch_.path() + "/deep.json", good}, "nested deeper"},
      {{good, good, "--top", "-1"}, "'-1'"},
      {{good, good, good}, "unexpected argument"},
  };
  for (const auto& [arguments, words] : cases) {
    std::vector<std::string> command{"compare"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Finished run = run_mantissa(command);
    EXPECT_EQ(run.exit_code, 2) << words;
    EXPECT_EQ(run.out, "") << words;
    EXPECT_TRUE(contains(run.err, words)) << run.err;
    EXPECT_EQ(lines_of(run.err).size(), 1U) << run.err;
  }
}

}  // namespace
}  // namespace mantissa::test
