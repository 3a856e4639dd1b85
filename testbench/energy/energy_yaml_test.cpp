// Energy tables: the shipped figures, re-computed from their sources by hand, and what a file may not say.
#include "sim/energy/energy_yaml.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

const std::string start = "name: mine\nsource: me\nnode_nm: 45\n";

EnergyTable parse(const std::string& text) { return parse_energy_table(text, "mine.yaml"); }
std::string refused_table(const std::string& text) {
  return refusal([&] { parse(text); });
}

TEST(ShippedEnergy, Horowitz) {
  const EnergyTable table = load_energy_table("horowitz45").value;
  EXPECT_EQ(table.name, "horowitz45");
  EXPECT_EQ(table.node_nm, 45);
  EXPECT_EQ(table.voltage_v, 0.9);
  const struct {
    const char* action;
    double pj;
    bool derived;
  } cases[] = {
      // ISSCC 2014, as printed.
      {"multiply fp32 fp32", 3.7, false},
      {"multiply uint8 uint8", 0.2, false},
      {"accumulate fp32", 0.9, false},
      {"accumulate fp16", 0.4, false},
      // 9 and 16 of 64 bit products, 10 and 8 bits of exponents to add.
      {"multiply e5m2 e5m2", 0.2 * 9 / 64 + 0.03 * 10 / 16, true},
      {"multiply e4m3 e4m3", 0.2 * 16 / 64 + 0.03 * 8 / 16, true},
      {"multiply e4m3 e5m2", 0.2 * 12 / 64 + 0.03 * 9 / 16, true},
      {"multiply uint16 uint8", 0.4, true},
      {"accumulate bf16", 0.4 * 8 / 11, true},
      {"accumulate e6m12", 0.4 + 0.5 * 2 / 13, true},
      {"accumulate int48", 0.15, true},
      {"register bit", 0.00625, true},
      {"staging write byte", 0.05, true},
      {"staging read byte 32", 8 * 5 * 0.1 / 128, true},
      // The three caches, and a size between.
      {"sram byte 8192", 10.0 / 8, true},
      {"sram byte 32768", 20.0 / 8, true},
      {"sram byte 1048576", 100.0 / 8, true},
      {"sram byte 16384", 10.0 / 8 * std::sqrt(2.0), true},
      {"dram byte", 162.5, true},
      {"quantize e5m2", 0.06 + 120 * 0.1 / 128 + 0.075, true},
      {"quantize uint8", 4.7, true},
      {"draw", 0.2 + 48 * 0.1 / 64, true},
      {"prune 16", 1.2 + 0.2, true},
      {"norm range forward", 2.7 + 7.4 + 0.2, true},
      {"norm range backward", 5.4 + 22.2, true},
      {"norm standard forward", 4.5 + 11.1, true},
      {"norm standard backward", 7.2 + 29.6, true},
  };
  for (const auto& [action, pj, derived] : cases) {
    const ActionPrice each = price_of(table, action);
    EXPECT_NEAR(each.pj, pj, 1e-12 * pj) << action;
    EXPECT_EQ(each.derived, derived) << action;
  }
}

TEST(ShippedEnergy, Aladdin) {
  const EnergyTable table = load_energy_table("aladdin40").value;
  EXPECT_EQ(table.node_nm, 40);
  EXPECT_EQ(table.clock_mhz, 200);  // the 5 ns rows
  const struct {
    const char* action;
    double pj;
    bool derived;
  } cases[] = {
      {"multiply fp32 fp32", 24.4, false},
      {"accumulate fp32", 7.93, false},
      {"register bit", 0.009, false},
      {"multiply e5m2 e5m2", 8.63 * 9 / 1024 + 0.0857 * 10 / 64, true},
      {"multiply uint8 uint8", 8.63 / 16, true},
      {"accumulate fp16", 7.93 * 11 / 24, true},
      {"accumulate int48", 0.0857 * 1.5, true},
      {"align 32", 0.417, true},
      {"sram byte 8192", 5.26 / 8, true},
      {"sram byte 102400", 32.1 / 8, true},
      {"dram byte", 64, true},
      {"draw", 0.288 + 0.027, true},
  };
  for (const auto& [action, pj, derived] : cases) {
    const ActionPrice each = price_of(table, action);
    EXPECT_NEAR(each.pj, pj, 1e-12 * pj) << action;
    EXPECT_EQ(each.derived, derived) << action;
  }
}

// Public 40 and 45 nm figures put an FP8 multiply with FP32 accumulation between 1.1 pJ (Horowitz's parts)
// and 17.8 pJ (Aladdin's at 1 ns); ours are at 5 ns.
TEST(ShippedEnergy, AMacIsWithinWhatIsPublished) {
  const ActionCounts mac = {{"multiply e5m2 e5m2", 1}, {"accumulate fp32", 1}, {"register bit", 32}};
  const double low = price(load_energy_table("horowitz45").value, mac).total_pj();
  const double high = price(load_energy_table("aladdin40").value, mac).total_pj();
  EXPECT_NEAR(low, 1.1, 0.1);
  EXPECT_GT(high, 5 * low);
  EXPECT_LT(high, 17.8);
  // The accumulation is most of it.
  EXPECT_GT(0.9 / low, 0.7);
}

TEST(ShippedEnergy, EveryFigureHasASource) {
  EXPECT_EQ(shipped_configs(ConfigKind::energy), (std::vector<std::string>{"aladdin40", "horowitz45"}));
  for (const std::string& name : shipped_configs(ConfigKind::energy)) {
    const EnergyTable table = load_energy_table(name).value;
    EXPECT_EQ(table.name, name);
    for (const auto& [figure, value] : table.figures) {
      EXPECT_FALSE(value.source.empty()) << figure;
      EXPECT_EQ(value.derived, !value.formula.empty()) << figure;
      EXPECT_GT(value.pj, 0) << figure;
    }
  }
}

TEST(EnergyYaml, MistakesAreNamedWithTheirLine) {
  EXPECT_EQ(refused_table(start), "mine.yaml:1: 'energy table' needs a key 'prices'");
  const struct {
    std::string text;
    std::string message;
  } cases[] = {
      {"prices: {draw: {component: random, pj: 1, source: me}}", "(accepted)"},
      {"prices: {draw: {component: random, pj: 1}}", "mine.yaml:4: 'draw' needs a key 'source'"},
      {"prices: {draw: {pj: 1, source: me}}", "mine.yaml:4: 'draw' needs a key 'component'"},
      {"prices: {draw: {component: luck, pj: 1, source: me}}",
       "mine.yaml:4: component is 'luck'; allowed: multiply, accumulate, staging, sram, dram, quantize, "
       "random, prune, norm"},
      {"prices: {draw: {component: random, pj: -1, source: me}}", "mine.yaml:4: pj is '-1'; it must be a"},
      {"prices: {draw: {component: random, pj: 1, formula: 1, source: me}}",
       "mine.yaml:4: give either pj, a number, or formula"},
      {"prices: {draw: {component: random, source: me}}",
       "mine.yaml:4: give either pj, a number, or formula"},
      {"prices: {draw: {component: random, formula: x, source: me}}",
       "mine.yaml:4: formula: formula 'x': unknown name 'x'"},
      {"prices: {draw: {component: random, formula: 1 - 2, source: me}}",
       "mine.yaml:4: the formula gives no energy"},
      {"prices: {draw: {component: random, pj: 1, source: me, joule: 1}}",
       "mine.yaml:4: unknown key 'joule' in 'draw'; allowed: component, source, formula, pj"},
      {"prices: {draw: 1}", "mine.yaml:4: 'draw' must be a map"},
      {"prices: {align COUNT: {component: accumulate, pj: 1, source: me}}",
       "mine.yaml:4: a price with FORMAT, INTEGER or COUNT needs a formula"},
      {"prices: {align COUNT: {component: accumulate, formula: n2, source: me}}",
       "mine.yaml:4: formula 'n2': unknown name 'n2'"},
      {"prices: {align COUNT: {component: accumulate, formula: 3 - n1, source: me}}",
       "mine.yaml:4: formula '3 - n1' gives no energy for 'align 1073741824'"},
      // A figure may use those above it only.
      {"figures: {a: {formula: b, source: me}, b: {pj: 1, source: me}}\nprices: {}",
       "mine.yaml:4: formula: formula 'b': unknown name 'b'"},
      {"prices: []", "mine.yaml:4: 'prices' is a list; it must be a map"},
      {"price: {}\nprices: {}",
       "mine.yaml:4: unknown key 'price' in 'energy table'; allowed: name, source, node_nm, prices, "
       "voltage_v, clock_mhz, figures"},
  };
  for (const auto& [text, message] : cases) {
    const std::string said = refused_table(std::string(start).append(text).append("\n"));
    EXPECT_EQ(said.substr(0, message.size()), message) << "for: " << text << "\nsaid: " << said;
  }
}

TEST(EnergyYaml, FiguresAndFormulas) {
  const EnergyTable table = parse(start + R"(figures:
  one: {pj: 1, source: measured}
  two: {formula: 2 * one, source: doubled}
prices:
  draw: {component: random, formula: one}
  dram byte: {component: dram, formula: two}
  align COUNT: {component: accumulate, formula: two * n1, source: guessed}
)");
  EXPECT_EQ(table.figures.at("two").pj, 2);
  EXPECT_TRUE(table.figures.at("two").derived);
  // A measured figure under another name is still measured; a derived one still derived.
  EXPECT_FALSE(table.prices.at("draw").derived);
  EXPECT_EQ(table.prices.at("draw").source, "measured");
  EXPECT_TRUE(table.prices.at("dram byte").derived);
  EXPECT_EQ(table.prices.at("dram byte").formula, "2 * one");
  EXPECT_EQ(price_of(table, "align 7").pj, 14);
}

}  // namespace
}  // namespace mantissa::test
