// The table of figures against what the outputs really hold: nothing in them is missing from the table, and
// every row is where it says.
#include "sim/report/figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sim/report/compare_reports.hpp"
#include "sim/report/report_csv.hpp"
#include "sim/report/report_json.hpp"
#include "sim/report/report_table.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/report/example_report.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

// What a pass is, not what was found.
const Keys identity = {"step", "M", "N", "K", "groups", "channels", "elements_per_channel"};

// Of the figures; those of nested objects are not.
Keys numbers_in(const Json& object) {
  Keys keys;
  for (const auto& [key, value] : object.items()) {
    if ((value.is_number() || value.is_null()) && identity.count(key) == 0) keys.insert(key);
  }
  return keys;
}

template <typename Is>
Keys keys_that(Is is) {
  Keys keys;
  for (const Figure& figure : figures()) {
    if (is(figure)) keys.emplace(figure.key);
  }
  return keys;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
  return fields;
}

TEST(Figures, RowsAreUniqueAndComplete) {
  Keys keys;
  for (const Figure& figure : figures()) {
    EXPECT_TRUE(keys.emplace(figure.key).second) << figure.key;
    EXPECT_FALSE(figure.meaning.empty()) << figure.key;
    for (const Column& column : {figure.pass, figure.total, figure.page}) {
      EXPECT_EQ(column.place > 0, !column.title.empty()) << figure.key;
      const bool share = column.show == Column::Show::share || column.show == Column::Show::joined;
      EXPECT_TRUE(!share || !figure.whole.empty()) << figure.key;
    }
    EXPECT_GE(figure.decimals, 0) << figure.key;
  }
  for (const Figure& figure : figures()) {
    for (const std::string_view part : figure.whole) EXPECT_EQ(keys.count(std::string(part)), 1U) << part;
  }
}

TEST(Figures, AKeyEndsInItsUnit) {
  const std::vector<std::pair<std::string, std::string>> endings{{"_cycles", "cycles"}, {"_bytes", "B"},
                                                                 {"_total_pj", "J"},    {"_db", "dB"},
                                                                 {"_s", "s"},           {"tops", "TOPS"}};
  for (const Figure& figure : figures()) {
    for (const auto& [ending, unit] : endings) {
      if (figure.key.ends_with(ending)) {
        EXPECT_EQ(figure.unit, unit) << figure.key;
      }
    }
  }
}

TEST(Figures, EveryNumberOfReportJsonIsARowAndEveryRowIsThere) {
  const ReplayReport report = example_report();
  const Json json = Json::parse(report_json(report));
  const Keys of_a_pass =
      keys_that([&](const Figure& figure) { return value_of(figure, report.passes[0]).has_value(); });
  for (const Json& layer : json.at("layers")) EXPECT_EQ(numbers_in(layer), of_a_pass);
  const ReportTotals totals = total(report);
  const auto summed = [&](const Figure& figure) { return value_of(figure, totals.overall).has_value(); };
  for (const Json& pass : json.at("totals").at("by_pass")) EXPECT_EQ(numbers_in(pass), keys_that(summed));
  EXPECT_EQ(numbers_in(json.at("totals")),
            keys_that([&](const Figure& figure) { return summed(figure) || figure.of.steps; }));
  for (const Json& step : json.at("totals").at("by_step"))
    EXPECT_EQ(numbers_in(step), numbers_in(json.at("totals")));
  for (const Json& energy : json.at("totals").at("energy_by_table"))
    EXPECT_EQ(numbers_in(energy), keys_that([](const Figure& figure) { return figure.energy(); }));
}

TEST(Figures, TheCsvHasExactlyTheRowsWithAPlaceThere) {
  const std::string csv = report_csv(tiny_report());
  std::vector<std::string> expected{"step", "layer", "pass", "kind", "M", "N", "K", "groups", "formats"};
  for (const Figure* figure : placed(&Figure::csv)) {
    if (!figure->energy()) expected.emplace_back(figure->key);
  }
  // By hand: the names have been these since the first report.
  expected.insert(expected.end(),
                  {"table45_dram_pj", "table45_multiply_pj", "table45_total_pj", "table45_derived_pj",
                   "table45_pj_per_mac_executed", "table45_pj_per_mac_dense"});
  EXPECT_EQ(fields_of(csv.substr(0, csv.find('\n'))), expected);
}

TEST(Figures, TheTerminalHasEveryTitle) {
  const ReplayReport report = tiny_report();
  const std::string passes = pass_table(report, Pass::forward);
  for (const Figure* figure : placed(&Figure::pass))
    EXPECT_NE(passes.find(figure->pass.title), std::string::npos) << figure->key;
  const std::string totals = summary(report, total(report));
  for (const Figure* figure : placed(&Figure::total))
    EXPECT_NE(totals.find(figure->total.title), std::string::npos) << figure->key;
}

TEST(Figures, AComparisonHasExactlyTheRowsWithAPlaceThere) {
  const Scratch scratch;
  const std::string path = scratch.path() + "/report.json";
  std::ofstream(path) << report_json(example_report());
  const ReadReport report = read_report(path);
  const Comparison comparison = compare(report, report);
  Keys totals;
  for (const Change& change : comparison.totals) totals.emplace(change.figure->key);
  EXPECT_EQ(totals, keys_that([](const Figure& figure) { return figure.compare > 0; }));
  Keys passes;
  for (const LayerChange& layer : comparison.layers) {
    for (const Change& change : layer.figures) passes.emplace(change.path);
  }
  EXPECT_EQ(passes, keys_that([](const Figure& figure) { return figure.compare_passes > 0; }));
}

// The page itself is looked at in report_page_test.cpp.
TEST(Figures, ThePageIsToldEveryColumnAndFindsItInTheReport) {
  const Json json = Json::parse(report_json(tiny_report()));
  const auto expect_columns = [](const Json& columns, Column Figure::*table, const Json& record) {
    std::vector<const Figure*> expected = placed(table);
    std::erase_if(expected,
                  [&](const Figure* figure) { return (figure->*table).show == Column::Show::line; });
    ASSERT_EQ(columns.size(), expected.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Column& column = expected[i]->*table;
      const bool joined = column.show == Column::Show::joined;
      EXPECT_EQ(columns[i].at("key"), expected[i]->key);
      EXPECT_EQ(columns[i].at("title"), joined ? expected[i]->page.title : column.title);
      EXPECT_TRUE(record.contains(columns[i].at("key").get<std::string>()));
    }
  };
  const Json columns = Json::parse(page_columns());
  expect_columns(columns.at("passes"), &Figure::page, json.at("layers").at(0));
  expect_columns(columns.at("totals"), &Figure::total, json.at("totals"));
}

TEST(Figures, PlacesOfOneOutputKeepTheirOrder) {
  for (int Figure::*output : {&Figure::csv, &Figure::compare, &Figure::compare_passes}) {
    const std::vector<const Figure*> order = placed(output);
    EXPECT_FALSE(order.empty());
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [output](const Figure* a, const Figure* b) {
      return a->*output != b->*output ? a->*output < b->*output : a < b;  // rows stand in one array
    }));
  }
}

}  // namespace
}  // namespace mantissa::test
