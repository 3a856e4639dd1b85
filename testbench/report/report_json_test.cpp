// report.json: keys and values of a report in round numbers, equal bytes, no NaN; and its reader.
#include "sim/report/report_json.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sim/report/report_reader.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/report/example_report.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

TEST(ReportJson, HoldsInputsAndLayersByHand) {
  const Json json = Json::parse(report_json(tiny_report()));
  EXPECT_EQ(json.at("mantissa_report"), 1);
  EXPECT_EQ(json.at("version"), "0.1.0");
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("trace").at("hash"), "aaaa");
  EXPECT_EQ(json.at("recipe").at("hash"), "bbbb");
  EXPECT_EQ(json.at("arch").at("hash"), "cccc");
  ASSERT_EQ(json.at("layers").size(), 2U);
  const Json& layer = json.at("layers").at(1);
  const Json expected =
      Json::parse(R"({"step":0,"layer":"fc","pass":"weight_gradient","kind":"linear","M":5,"N":10,
    "K":4,"groups":1,"macs":50,"skipped_macs":150,"suppressed":3,"cycles":50,"compute_cycles":20,
    "stall_load_cycles":20,"stall_write_back_cycles":5,"stall_drain_cycles":5,"dense_cycles":100,"speedup":2.0,
    "operand_sparsity":0.75,"utilization":0.25,"sram_bytes":300,"dram_bytes":110,"tensor_bytes":100,"lowered_bytes":100,"mapping":"simple","traffic_factor":1.1,
    "energy_pj":{"dram":150.0,"multiply":50.0},"energy_total_pj":200.0,"energy_derived_pj":50.0,
    "derived_share":0.25,"pj_per_mac_executed":4.0,"pj_per_mac_dense":1.0,"sqnr_db":null,"exact":true,
    "accumulator_sqnr_db":null,"accumulator_exact":true,"accumulator_elements":10,
    "cosine":null,"max_ulp":2.0,"bias":0.25,"nonfinite":0,"overflow":1,"underflow":2,"flushed_to_zero":3})");
  for (const auto& [key, value] : expected.items()) EXPECT_EQ(layer.at(key), value) << key;
  EXPECT_EQ(layer.at("energy_by_table").at("table45").at("pj_per_mac_executed"), 4.0);
  EXPECT_EQ(json.at("layers").at(0).at("sqnr_db"), 25.5);
  EXPECT_FALSE(json.at("layers").at(0).at("exact"));
}

TEST(ReportJson, TotalsAreOverallAndPerPass) {
  const Json totals = Json::parse(report_json(tiny_report())).at("totals");
  EXPECT_EQ(totals.at("cycles"), 150);
  EXPECT_EQ(totals.at("macs"), 250);
  EXPECT_DOUBLE_EQ(totals.at("pj_per_mac_executed"), 2.4);
  EXPECT_DOUBLE_EQ(totals.at("pj_per_mac_dense"), 1.5);
  EXPECT_DOUBLE_EQ(totals.at("ideal_speedup"), 2);
  EXPECT_DOUBLE_EQ(totals.at("traffic_factor"), 220.0 / 200);
  EXPECT_EQ(totals.at("by_pass").at("forward").at("cycles"), 100);
  EXPECT_EQ(totals.at("by_pass").at("weight_gradient").at("cycles"), 50);
  EXPECT_EQ(totals.at("by_pass").at("input_gradient").at("cycles"), 0);
  EXPECT_TRUE(totals.at("by_pass").at("input_gradient").at("pj_per_mac_executed").is_null());
  EXPECT_TRUE(totals.at("by_pass").at("input_gradient").at("traffic_factor").is_null());
}

TEST(ReportJson, StepsAreTotalsOfTheirOwn) {
  ReplayReport report = tiny_report();
  report.passes[1].step = 9;
  report.steps = {{0, 3}, {9, 1}};
  const Json json = Json::parse(report_json(report));
  EXPECT_EQ(json.at("images"), 4);
  const Json& steps = json.at("totals").at("by_step");
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps.at("0").at("cycles"), 100);
  EXPECT_EQ(steps.at("0").at("images"), 3);
  EXPECT_EQ(steps.at("9").at("cycles"), 50);
  EXPECT_EQ(steps.at("9").at("images_per_second"), 20000);
  EXPECT_EQ(steps.at("9").at("gradient_sparsity"), 0.75);
}

TEST(ReportJson, WarningsStandBeforeNotes) {
  ReplayReport report = tiny_report();
  report.warnings = {"look out"};
  report.notes = {"by the way"};
  const std::string text = report_json(report);
  EXPECT_EQ(Json::parse(text).at("warnings"), Json::parse(R"(["look out"])"));
  EXPECT_LT(text.find("look out"), text.find("by the way"));
  EXPECT_LT(text.find("look out"), text.find("\"totals\""));
}

TEST(ReportJson, WithoutMemoryThereIsNoTotalOfEnergy) {
  ReplayReport report = tiny_report();
  for (PassReport& pass : report.passes) pass.energy[0].has_total = false;
  const Json json = Json::parse(report_json(report));
  for (const Json& place :
       {json.at("totals"), json.at("layers").at(0), json.at("totals").at("energy_by_table").at("table45")}) {
    for (const char* key : {"energy_total_pj", "energy_derived_pj", "derived_share", "pj_per_mac_executed",
                            "pj_per_mac_dense"}) {
      EXPECT_TRUE(place.at(key).is_null()) << key;
    }
  }
  EXPECT_EQ(json.at("totals").at("energy_pj").at("multiply"), 150);
}

TEST(ReportJson, KeysOfRecipeAndArchitectureHaveTheirValues) {
  const Json json = Json::parse(report_json(tiny_report()));
  EXPECT_EQ(json.at("arch").at("keys"), Json::parse(R"({"rows": "2", "dram_bandwidth": "8MB/s"})"));
  EXPECT_EQ(json.at("recipe").at("keys").at("arithmetic"), "floating");
}

TEST(ReportJson, ATimelineIsListsOfIntervals) {
  const Json timeline = Json::parse(report_json(tiny_report())).at("timeline");
  const Json expected = Json::parse(R"({"step": 0, "layer": "fc", "pass": "forward", "mapping": "simple",
    "cycles": 100, "shown_cycles": 100, "memory_steps": 6, "step_starts": [20, 65], "load": [[0, 20]],
    "compute": [[20, 50], [65, 95]], "drain": [[50, 65]], "write_back": [[90, 100]],
    "stall_load": [[0, 20]], "stall_drain": [[50, 65]], "stall_write_back": [[95, 100]]})");
  EXPECT_EQ(timeline, expected);
  ReplayReport without = tiny_report();
  without.timeline.reset();
  EXPECT_TRUE(Json::parse(report_json(without)).at("timeline").is_null());
}

TEST(ReportJson, EveryListHasItsKeys) {
  const ReplayReport report = example_report();
  const Json json = Json::parse(report_json(report));
  ASSERT_EQ(json.at("layers").size(), report.passes.size());
  for (const Json& layer : json.at("layers")) {
    const std::uint64_t product = layer.at("M").get<std::uint64_t>() * layer.at("N").get<std::uint64_t>() *
                                  layer.at("K").get<std::uint64_t>() *
                                  layer.at("groups").get<std::uint64_t>();
    EXPECT_EQ(layer.at("macs").get<std::uint64_t>() + layer.at("skipped_macs").get<std::uint64_t>(), product);
    double sum = 0;
    for (const Json& part : layer.at("energy_pj")) sum += part.get<double>();
    EXPECT_NEAR(layer.at("energy_total_pj").get<double>(), sum, 1e-9 * sum);
    EXPECT_EQ(layer.at("energy_by_table").size(), 2U);
    EXPECT_EQ(layer.contains("channels"), layer.at("kind") == "batchnorm");
  }
  const Json& tensor = json.at("tensors").at(2);
  EXPECT_EQ(tensor.at("class"), "errors");
  for (const char* key : {"step", "layer", "format", "scale_exponent", "elements", "zero_share", "sqnr_db",
                          "overflow", "underflow", "flushed_to_zero"}) {
    EXPECT_TRUE(tensor.contains(key)) << key;
  }
  const Json& gradient = json.at("gradients").at(0);
  EXPECT_EQ(gradient.at("histogram_share").size(), report.gradients[0].histogram.size());
  EXPECT_EQ(gradient.at("sigma_ln"), report.gradients[0].sigma);
  EXPECT_EQ(json.at("staging").size(), 12U);
  EXPECT_EQ(json.at("staging").at(5).at("speedup"), 1.88);
  const Json& price = json.at("tables").at(0).at("prices").at(3);
  EXPECT_EQ(price.at("action"), "quantize element");
  EXPECT_EQ(price.at("kind"), "derived");
  EXPECT_EQ(price.at("formula"), "an FP32 addition");
  EXPECT_EQ(json.at("tables").at(0).at("figures").at(0).at("name"), "fp32 add");
  EXPECT_TRUE(json.at("tables").at(1).at("voltage_v").is_null());
}

TEST(ReportJson, EqualReportsGiveEqualBytes) {
  EXPECT_EQ(report_json(example_report()), report_json(example_report()));
  EXPECT_NE(report_json(example_report()), report_json(example_report(3, 2, 0.8)));
}

TEST(ReportJson, NothingThatIsNoNumberIsPrinted) {
  ReplayReport report = example_report();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (PassReport& pass : report.passes)
    pass.accuracy = {.sqnr_db = nan, .cosine = -infinity, .max_ulp = infinity, .bias = nan};
  for (TensorReport& tensor : report.tensors) tensor.zero_share = tensor.accuracy.sqnr_db = nan;
  for (GradientReport& gradient : report.gradients) {
    gradient.mu = gradient.sigma = gradient.ks_normal = gradient.tau = nan;
    gradient.histogram[3] = infinity;
  }
  report.staging[0].speedup = nan;
  const std::string text = report_json(report);
  for (const char* word : {"nan", "NaN", "inf,", "Inf", ":inf"})
    EXPECT_EQ(text.find(word), std::string::npos);
  const Json json = Json::parse(text);
  EXPECT_TRUE(json.at("layers").at(0).at("max_ulp").is_null());
  EXPECT_TRUE(json.at("gradients").at(0).at("histogram_share").at(3).is_null());
}

TEST(ReportJson, NumbersReadBackAsTheyWere) {
  ReplayReport report = tiny_report();
  report.seed = std::numeric_limits<std::uint64_t>::max();
  report.passes[0].accuracy.bias = 0.1 + 0.2;
  report.passes[0].accuracy.max_ulp = 5e-324;
  const std::string text = report_json(report);
  const Json json = Json::parse(text);
  EXPECT_EQ(json.at("seed"), report.seed);
  EXPECT_EQ(json.at("layers").at(0).at("bias"), 0.1 + 0.2);
  EXPECT_EQ(json.at("layers").at(0).at("max_ulp"), 5e-324);
  EXPECT_NE(text.find("\"sqnr_db\":25.5,"), std::string::npos);
}

TEST(ReportJson, NamesMayBeAnyBytes) {
  ReplayReport report = tiny_report();
  report.trace = "a\xFF\x01\"b.safetensors";
  report.passes[0].layer = "capa \xC3\xB1";
  const Json json = Json::parse(report_json(report));
  EXPECT_EQ(json.at("layers").at(0).at("layer"), "capa \xC3\xB1");
}

TEST(ReportJson, ABrokenReportIsNotWritten) {
  ReplayReport report = tiny_report();
  ++report.passes[0].cost.macs;
  EXPECT_THROW(report_json(report), std::logic_error);
}

class ReportReader : public testing::Test {
 protected:
  std::string file(const std::string& text) const {
    std::string path = scratch_.path() + "/report.json";
    std::ofstream(path) << text;
    return path;
  }
  Scratch scratch_;
};

TEST_F(ReportReader, ReadsWhatWasWritten) {
  const ReadReport report = read_report(file(report_json(example_report())));
  EXPECT_EQ(report.recipe.name, "lognormal-sparse");
  EXPECT_EQ(report.tables, (std::vector<std::string>{"table45", "table40"}));
  EXPECT_EQ(report.layers.size(), example_report().passes.size());
  EXPECT_EQ(report.layers[0].figures.find("cycles"), example_report().passes[0].cost.cycles());
  EXPECT_GT(report.layers[0].figures.find("energy_by_table.table40.energy_pj.sram").value_or(0), 0);
  EXPECT_EQ(report.layers[2].figures.find("sqnr_db"), std::nullopt);
  EXPECT_GT(report.totals.find("by_pass.forward.cycles").value_or(0), 0);
}

// Reports before 0.2 have none.
TEST_F(ReportReader, WarningsMayBeMissing) {
  ReplayReport report = tiny_report();
  report.warnings = {"look out", "mind the gap"};
  Json json = Json::parse(report_json(report));
  EXPECT_EQ(read_report(file(json.dump())).warnings, report.warnings);
  json.erase("warnings");
  EXPECT_TRUE(read_report(file(json.dump())).warnings.empty());
}

TEST_F(ReportReader, SaysWhatIsWrongWithAFile) {
  const std::string good = report_json(tiny_report());
  const auto without = [&good](const std::string& key) {
    Json json = Json::parse(good);
    json.erase(key);
    return json.dump();
  };
  const auto with = [&good](const std::string& key, const Json& value) {
    Json json = Json::parse(good);
    json[key] = value;
    return json.dump();
  };
  std::string twice = good;
  const std::size_t pass = twice.find("weight_gradient\",\"kind");
  ASSERT_NE(pass, std::string::npos);
  twice.replace(pass, 15, "forward");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "not valid JSON"},
      {good.substr(0, good.size() / 2), "not valid JSON"},
      {"[1, 2]", "not a report of mantissa"},
      {"{\"mantissa_report\": 2}", "version 2"},
      {"{\"mantissa_report\": [[[]]]}", "version unknown"},
      {"{\"mantissa_report\": 1}", "no key 'version'"},
      {without("layers"), "no key 'layers'"},
      {without("seed"), "no key 'seed'"},
      {without("arch"), "no key 'arch'"},
      {twice, "is a duplicate"},
      {with("warnings", "none"), "'warnings' is not a list"},
      {with("warnings", {1}), "'warnings' has something else than strings"},
      {std::string(100000, '['), "nested deeper"},
      {"{\"a\":" + std::string(100000, '[') + std::string(100000, ']') + ",\"b\":1}",
       "nested deeper than 10 levels in a[0][0][0][0][0][0][0][0]"},
      {good + std::string("\0{", 2), "zero byte"},
      {R"({"mantissa_report":1,"mantissa_report":1})", "appears twice"},
  };
  for (const auto& [text, words] : cases) {
    const std::string path = file(text);
    try {
      (void)read_report(path);
      ADD_FAILURE() << "read: " << words;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW((void)read_report(scratch_.path()), std::invalid_argument);
  EXPECT_THROW((void)read_report(scratch_.path() + "/nothing"), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa::test
