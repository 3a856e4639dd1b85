// Formulas of energy tables.
#include "sim/energy/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "testbench/support/refusal.hpp"

namespace mantissa::test {
namespace {

std::optional<double> one_name(std::string_view name) {
  if (name == "a") return 2.0;
  if (name == "b_2") return 5.0;
  return std::nullopt;
}
double value(const std::string& text) { return evaluate_formula(text, one_name); }
std::string refused_formula(const std::string& text) {
  return refusal([&] { value(text); });
}

TEST(Formula, Evaluates) {
  EXPECT_EQ(value("1"), 1);
  EXPECT_EQ(value(" 0.5e1 "), 5);
  EXPECT_EQ(value("1 + 2 * 3"), 7);
  EXPECT_EQ(value("(1 + 2) * 3"), 9);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("16 / 4 / 2"), 2);
  EXPECT_EQ(value("1-2+3"), 2);
  EXPECT_EQ(value("a * b_2 / 4"), 2.5);
  EXPECT_EQ(value("min(a, b_2) + max(a, b_2)"), 7);
  EXPECT_EQ(value("pow(a, 3) + sqrt(16) + log2(b_2 + 3)"), 15);
  EXPECT_TRUE(std::isinf(value("1 / 0")));
}

TEST(Formula, RefusesTheRest) {
  EXPECT_EQ(refused_formula(""), "formula '': a value is missing at character 1");
  EXPECT_EQ(refused_formula("1 +"), "formula '1 +': a value is missing at character 4");
  EXPECT_EQ(refused_formula("1 2"), "formula '1 2': something is left over at character 3");
  EXPECT_EQ(refused_formula("(1"), "formula '(1': ')' is missing at character 3");
  EXPECT_EQ(refused_formula("c"), "formula 'c': unknown name 'c' at character 2");
  EXPECT_EQ(refused_formula("sin(1)"),
            "formula 'sin(1)': unknown function 'sin'; allowed: min, max, pow, sqrt, log2 at character 7");
  EXPECT_EQ(refused_formula("min(1)"), "formula 'min(1)': ',' is missing at character 6");
  for (const char* text : {"-1", "--1", "+1", "1e999", "nan(1)", "inf", "*", ")", "1,2", "a(", "\xff"})
    EXPECT_NE(refused_formula(text), "(accepted)") << text;
  const auto nested = [](std::size_t depth) {
    std::string text(depth, '(');
    text += '1';
    return text.append(depth, ')');
  };
  EXPECT_NE(refused_formula(nested(100000)).find("too many parentheses"), std::string::npos);
  EXPECT_EQ(value(nested(40)), 1);
}

}  // namespace
}  // namespace mantissa::test
