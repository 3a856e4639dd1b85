// Every unit in lockstep: golden model, SystemC, RTL. And the bench itself: a corrupted stage must be seen.
#include <gtest/gtest.h>

#include "testbench/cli/run_program.hpp"
#include "testbench/verify/unit_list.hpp"

namespace mantissa::test {
namespace {

using Json = nlohmann::json;

class Lockstep : public testing::TestWithParam<std::string> {};

void expect_agreement(const std::vector<std::string>& options, std::size_t configurations) {
  std::vector<std::string> arguments = {"verify", "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const Finished run = run_mantissa(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const Json report = Json::parse(run.out);
  EXPECT_TRUE(report["passed"]);
  EXPECT_EQ(report["runs"].size(), configurations);
  for (const Json& configuration : report["runs"]) {
    EXPECT_EQ(configuration["mismatches"], 0);
    EXPECT_TRUE(configuration["empty_bins"].empty())
        << configuration["configuration"] << configuration["empty_bins"];
  }
}

// The functional bins and the sequences behind them need the unit's own number of transactions. The other
// configurations are long tests, but for those of the MAC.
TEST_P(Lockstep, AllThreeModelsAgree) {
  const Json& configurations = unit_record(GetParam())["configurations"];
  if (GetParam() == "fp8_mac") {
    expect_agreement({GetParam()}, configurations.size());
  } else {
    expect_agreement({GetParam(), "--config", configurations[0]["name"]}, 1);
  }
}

TEST_P(Lockstep, ACorruptedStageIsSeen) {
  const Json& stages = unit_record(GetParam())["stages"];
  ASSERT_FALSE(stages.empty());
  const std::string configuration = unit_record(GetParam())["configurations"][0]["name"];
  for (const Json& stage : stages) {
    const Finished run = run_in_scratch("mantissa verify " + GetParam() + " --config '" + configuration +
                                        "' --corrupt " + stage.get<std::string>() + " --json");
    EXPECT_EQ(run.exit_code, 1) << stage << run.err;
    const Json report = Json::parse(run.out);
    const Json& mismatch = report["runs"][0]["mismatch"];
    EXPECT_EQ(mismatch["model"], "systemc") << stage;
    EXPECT_NE(mismatch["what"].get<std::string>().find(" is wrong"), std::string::npos) << mismatch["what"];
  }
}

// Also where the wrong output first shows while it waits to be taken, and has operands behind it already.
TEST(LockstepDiagnosis, NamesTheStageWhateverTheStalls) {
  for (const char* stage : {"product", "align", "normalise", "round"}) {
    for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
      const Finished run =
          run_in_scratch("mantissa verify fp8_mac --config 'e5m2 fp16, 2 stages' --corrupt " +
                         std::string(stage) + " --json --vectors 1000 --seed " + seed);
      ASSERT_EQ(run.exit_code, 1) << run.err;
      const Json report = Json::parse(run.out);
      const Json& mismatch = report["runs"][0]["mismatch"];
      EXPECT_EQ(mismatch["model"], "systemc") << stage << seed;
      EXPECT_EQ(mismatch["stage"].get<std::string>().rfind(stage, 0), 0U) << mismatch["stage"] << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Units, Lockstep, testing::ValuesIn(unit_names()),
                         [](const auto& test) { return test_name(test.param); });

// The full bar: 10^6 transactions, 10^5 of the units that take many cycles for one.
class LongLockstep : public testing::TestWithParam<std::string> {};

TEST_P(LongLockstep, MillionTransactions) {
  const bool slow = GetParam() == "fp32_div" || GetParam().rfind("range_bn", 0) == 0;
  expect_agreement({GetParam(), "--vectors", slow ? "100000" : "1000000", "--seed", "2"},
                   unit_record(GetParam())["configurations"].size());
}

INSTANTIATE_TEST_SUITE_P(Long, LongLockstep, testing::ValuesIn(unit_names()),
                         [](const auto& test) { return test_name(test.param); });

TEST(LongFp8Mac, ExhaustiveOverAllOperandPairs) {
  const Finished run = run_mantissa({"verify", "fp8_mac", "--exhaustive", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(LongExhaustive, EveryUnitThatIsSmallEnough) {
  const Finished run = run_mantissa({"verify", "--all", "--exhaustive", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(VerifyRequest, ExhaustiveRunIsRefusedBeforeAnythingRuns) {
  const Finished run = run_mantissa({"verify", "fp8_mac", "fp32_add", "--exhaustive"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("unit fp32_add has too many inputs for --exhaustive"), std::string::npos) << run.err;
}

// Line coverage 100 %, toggle coverage above 95 % for every unit.
TEST(LongRtlCoverage, EveryUnitIsCovered) {
  const Finished run = run_in_scratch("mantissa verify --all --json --coverage .");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json report = Json::parse(run.out);
  EXPECT_EQ(report["rtl_coverage"].size(), unit_names().size());
  for (const Json& unit : report["rtl_coverage"]) {
    EXPECT_EQ(unit["line_percent"], 100.0) << unit["unit"] << unit["missed"];
    EXPECT_GT(unit["toggle_percent"], 95.0) << unit["unit"] << unit["missed"];
  }
}

}  // namespace
}  // namespace mantissa::test
