// Pricing: sums, the derived share, rules, and actions that have no price.
#include "sim/energy/energy_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

EnergyTable small_table() {
  EnergyTable table;
  table.name = "small";
  table.prices["draw"] = {0.25, true, "random", "1 / 4", "made up"};
  table.prices["dram byte"] = {100, false, "dram", "", "made up"};
  table.prices["accumulate fp32"] = {2, false, "accumulate", "", "made up"};
  table.figures["unit"] = {0.5, false, "", "made up"};
  table.rules.push_back({"multiply FORMAT FORMAT", "multiply", "unit * p1 * p2 + e1 - e2", "made up"});
  table.rules.push_back({"accumulate INTEGER", "accumulate", "w1 * unit", "made up"});
  table.rules.push_back({"sram byte COUNT", "sram", "sqrt(n1)", "made up"});
  return table;
}

TEST(EnergyTable, TotalIsTheSumOfItsComponents) {
  const Energy energy = price(small_table(), {{"draw", 4},
                                              {"dram byte", 3},
                                              {"accumulate fp32", 5},
                                              {"accumulate int48", 2},
                                              {"multiply e5m2 e4m3", 7}});
  EXPECT_EQ(energy.table, "small");
  ASSERT_EQ(energy.components.size(), 4U);
  EXPECT_EQ(energy.components[0].name, "accumulate");
  EXPECT_EQ(energy.components[0].pj, 5 * 2 + 2 * 24);
  EXPECT_EQ(energy.components[0].derived_pj, 2 * 24);  // the rule's part alone
  EXPECT_EQ(energy.components[1].name, "dram");
  EXPECT_EQ(energy.components[1].pj, 300);
  EXPECT_EQ(energy.components[1].derived_pj, 0);
  EXPECT_EQ(energy.components[2].name, "multiply");
  EXPECT_EQ(energy.components[2].pj, 7 * (0.5 * 3 * 4 + 5 - 4));
  EXPECT_EQ(energy.components[3].name, "random");
  EXPECT_EQ(energy.components[3].derived_pj, 1);
  double sum = 0;
  for (const EnergyComponent& component : energy.components) sum += component.pj;
  EXPECT_EQ(energy.total_pj(), sum);
  EXPECT_EQ(energy.total_pj(), 58 + 300 + 49 + 1);
  EXPECT_EQ(energy.derived_pj(), 48 + 49 + 1);
}

TEST(EnergyTable, NothingIsFree) {
  const std::string message =
      "energy table 'small' has no price for 'flap wing'; every action needs one: add it to prices";
  EXPECT_EQ(refusal([] { price(small_table(), {{"flap wing", 1}}); }), message);
  EXPECT_EQ(refusal([] { price(small_table(), {{"flap wing", 0}}); }), message);
  for (const char* action : {"multiply e5m2", "multiply e5m2 e5m2 e5m2", "multiply uint8 e5m2", "multiply",
                             "sram byte", "sram byte -1", "sram byte many", "sram byte 1x", "accumulate fp16",
                             "accumulate int", "accumulate intx", "Draw", ""}) {
    EXPECT_NE(refusal([&] { price(small_table(), {{action, 1}}); }), "(accepted)") << action;
  }
  // A formula that goes below nothing.
  EXPECT_NE(refusal([] {
              price(small_table(), {{"multiply e2m1 e8m0:bias=127", 1}});
            }).find("gives no energy"),
            std::string::npos);
}

TEST(EnergyTable, APriceOfItsOwnGoesBeforeARule) {
  EnergyTable table = small_table();
  table.prices["multiply e5m2 e5m2"] = {3, false, "multiply", "", "measured on gates"};
  EXPECT_EQ(price_of(table, "multiply e5m2 e5m2").pj, 3);
  EXPECT_FALSE(price_of(table, "multiply e5m2 e5m2").derived);
  EXPECT_TRUE(price_of(table, "multiply e4m3 e4m3").derived);
  const EnergyTable shown = priced_for(table, {{"multiply e4m3 e4m3", 2}, {"sram byte 4096", 1}});
  ASSERT_EQ(shown.prices.size(), 2U);
  EXPECT_EQ(shown.prices.at("sram byte 4096").pj, 64);
  EXPECT_EQ(shown.prices.at("sram byte 4096").formula, "sqrt(n1)");
}

TEST(Energy, Adds) {
  const EnergyTable table = small_table();
  Energy sum;
  sum += price(table, {{"draw", 4}, {"multiply e5m2 e5m2", 1}});
  sum += price(table, {{"dram byte", 1}, {"draw", 4}});
  const Energy whole = price(table, {{"draw", 8}, {"multiply e5m2 e5m2", 1}, {"dram byte", 1}});
  ASSERT_EQ(sum.components.size(), whole.components.size());
  for (std::size_t i = 0; i < whole.components.size(); ++i) {
    EXPECT_EQ(sum.components[i].name, whole.components[i].name);
    EXPECT_EQ(sum.components[i].pj, whole.components[i].pj);
    EXPECT_EQ(sum.components[i].derived_pj, whole.components[i].derived_pj);
  }
  EXPECT_EQ(sum.table, "small");
  Energy other;
  other.table = "other";
  EXPECT_EQ(refusal([&] { sum += other; }), "energies of the tables 'small' and 'other' do not add up");
}

}  // namespace
}  // namespace mantissa::test
