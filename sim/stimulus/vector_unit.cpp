#include "sim/stimulus/vector_unit.hpp"

#include <charconv>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "sim/support/user_text.hpp"

namespace mantissa::stimulus {

void VectorUnit::add_input(VectorField field, std::vector<std::uint32_t> interesting) {
  inputs.push_back(std::move(field));
  corners.push_back(std::move(interesting));
}

void VectorUnit::add_random_input(Rounding rounding) {
  if (!rounding.stochastic()) return;
  add_input({"r", rounding.random_bits}, random_corners(rounding.random_bits));
}

void VectorUnit::add_rounded_output(const Format& format) {
  outputs.push_back(VectorField::code("result", format));
  outputs.push_back({"flags", 5});
}

int VectorUnit::word_bits() const {
  int bits = 0;
  for (const VectorField& field : inputs) bits += field.bits;
  for (const VectorField& field : outputs) bits += field.bits;
  return bits;
}

std::uint64_t VectorUnit::corner_count() const {
  std::uint64_t count = 1;
  for (const auto& values : corners) count *= values.size();
  return count;
}

std::vector<std::uint32_t> VectorUnit::corner(std::uint64_t index) const {
  std::vector<std::uint32_t> values(corners.size());
  for (std::size_t i = corners.size(); i-- > 0; index /= corners[i].size()) {
    values[i] = corners[i][index % corners[i].size()];
  }
  return values;
}

std::optional<std::vector<std::uint32_t>> VectorUnit::corner_in_turn(std::uint64_t index) const {
  const std::uint64_t count = corner_count();
  if (index % 2 != 0 || index / 2 >= count) return std::nullopt;
  // Steps of the golden section spread best; a step without a common divisor visits all.
  auto step = static_cast<std::uint64_t>(static_cast<double>(count) * 0.618);
  while (std::gcd(step, count) != 1) ++step;
  return corner(index / 2 * step % count);
}

int int_parameter(const Parameters& parameters, std::string_view name) {
  const std::string& text = parameters.find(name)->second;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument("--" + std::string(name) + ": " + in_quotes(text) +
                                " is not a decimal whole number");
  }
  return value;
}

Parameters UnitKind::complete(const Parameters& given) const {
  Parameters all = defaults;
  for (const auto& [key, value] : given) {
    if (!defaults.contains(key)) {
      std::string known;
      for (const auto& [own, unused] : defaults) known += " --" + own;
      throw std::invalid_argument("unit " + name + " has no parameter --" + key + "; " +
                                  (known.empty() ? "it has none" : "it has" + known));
    }
    all[key] = value;
  }
  return all;
}

std::vector<UnitKind> vector_units() {
  std::vector<UnitKind> units = arithmetic_units();
  for (UnitKind& unit : method_units()) units.push_back(std::move(unit));
  return units;
}

UnitKind find_vector_unit(std::string_view name) {
  std::string known;
  for (UnitKind& unit : vector_units()) {
    if (unit.name == name) return std::move(unit);
    known += " " + unit.name;
  }
  throw std::invalid_argument("unknown unit " + in_quotes(name) + "; units are" + known);
}

}  // namespace mantissa::stimulus
