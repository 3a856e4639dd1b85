#include "sim/units/unit_parameters.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa {
namespace {

const UnitParameters::Value* find(const std::vector<UnitParameters::Value>& values, std::string_view name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [name](const auto& value) { return value.first == name; });
  return found == values.end() ? nullptr : &*found;
}

}  // namespace

int UnitParameters::at(std::string_view name) const {
  const Value* value = find(values_, name);
  if (value == nullptr) throw std::out_of_range("no parameter " + std::string(name));
  return value->second;
}

bool UnitParameters::has(std::string_view name) const { return find(values_, name) != nullptr; }

void UnitParameters::set(std::string_view name, int value) {
  for (Value& known : values_) {
    if (known.first == name) {
      known.second = value;
      return;
    }
  }
  values_.emplace_back(name, value);
}

void UnitParameters::override_with(const UnitParameters& others) {
  for (const auto& [name, value] : others.values_) set(name, value);
}

Format UnitParameters::format(const std::string& prefix) const {
  const int exponent_bits = at(prefix + "Exp");
  const int ieee_bias = (1 << (exponent_bits - 1)) - 1;
  return {exponent_bits, at(prefix + "Man"), has(prefix + "Bias") ? at(prefix + "Bias") : ieee_bias,
          has(prefix + "Specials") ? static_cast<Specials>(at(prefix + "Specials")) : Specials::ieee};
}

void UnitParameters::set_format(const std::string& prefix, const Format& format) {
  set(prefix + "Exp", format.exponent_bits);
  set(prefix + "Man", format.mantissa_bits);
  if (has(prefix + "Bias")) set(prefix + "Bias", format.bias);
  if (has(prefix + "Specials")) set(prefix + "Specials", static_cast<int>(format.specials));
}

Rounding UnitParameters::rounding(std::string_view name, std::string_view random_bits) const {
  return {rounding_mode(at(name)), has(random_bits) ? at(random_bits) : 0};
}

void UnitParameters::set_rounding(const std::string& name, Rounding rounding) {
  set(name, static_cast<int>(rounding.mode));
  if (has("RndBits")) set("RndBits", rounding.random_bits);
}

UnitParameters UnitParameters::with(const UnitParameters& others) const {
  UnitParameters both = *this;
  both.override_with(others);
  return both;
}

UnitParameters operand_formats(const Format& a, const Format& b) {
  UnitParameters parameters{{"AExp", 0}, {"AMan", 0}, {"ABias", 0}, {"ASpecials", 0},
                            {"BExp", 0}, {"BMan", 0}, {"BBias", 0}, {"BSpecials", 0}};
  parameters.set_format("A", a);
  parameters.set_format("B", b);
  return parameters;
}

}  // namespace mantissa
