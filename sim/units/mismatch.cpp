#include "sim/units/mismatch.hpp"

namespace mantissa {
namespace {

std::string hex_and_decimal(const std::string& hex, const std::string& decimal) {
  return decimal.empty() ? hex : hex + " = " + decimal;
}

}  // namespace

std::string describe(const Mismatch& mismatch) {
  std::string text;
  if (!mismatch.stage.empty()) text += "  first wrong stage: " + mismatch.stage + "\n";
  for (const Mismatch::Value& value : mismatch.inputs)
    text += "  " + value.port + " = " + value.actual + "\n";
  for (const Mismatch::Value& value : mismatch.outputs) {
    text += "  " + value.port + ": expected " + hex_and_decimal(value.expected, value.expected_decimal) +
            ", got " + hex_and_decimal(value.actual, value.actual_decimal) +
            (value.expected == value.actual ? "\n" : "   <--\n");
  }
  for (const std::string& line : mismatch.golden) text += "  " + line + "\n";
  return text;
}

}  // namespace mantissa
