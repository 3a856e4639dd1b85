#include "sim/energy/energy_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "models/format/format.hpp"
#include "sim/energy/formula.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    words.push_back(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return words;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<std::int64_t> integer_bits(std::string_view text) {
  if (text.starts_with('u')) text.remove_prefix(1);
  if (!text.starts_with("int")) return std::nullopt;
  return whole_number(text.substr(3));
}

std::optional<Format> format_named(std::string_view text) {
  try {
    return Format::parse(text);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

using Bindings = std::map<std::string, double, std::less<>>;

// What one parameter of a pattern is in the action, as names for the formula; false if it is not of its kind.
bool bind(std::string_view parameter, std::string_view word, int place, Bindings& names) {
  const std::string index = std::to_string(place);
  if (parameter == "FORMAT") {
    const std::optional<Format> format = format_named(word);
    if (!format) return false;
    names["p" + index] = format->precision();
    names["e" + index] = format->exponent_bits;
    names["w" + index] = format->bits();
    return true;
  }
  const std::optional<std::int64_t> number = parameter == "INTEGER" ? integer_bits(word) : whole_number(word);
  if (!number) return false;
  names[(parameter == "INTEGER" ? "w" : "n") + index] = static_cast<double>(*number);
  return true;
}

bool is_parameter(std::string_view word) { return word == "FORMAT" || word == "INTEGER" || word == "COUNT"; }

std::optional<Bindings> match(std::string_view pattern, std::string_view action) {
  const std::vector<std::string_view> wanted = words_of(pattern);
  const std::vector<std::string_view> given = words_of(action);
  if (wanted.size() != given.size()) return std::nullopt;
  Bindings names;
  int place = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_parameter(wanted[i])) {
      if (wanted[i] != given[i]) return std::nullopt;
    } else if (!bind(wanted[i], given[i], ++place, names)) {
      return std::nullopt;
    }
  }
  return names;
}

}  // namespace

bool is_price_pattern(std::string_view action) {
  const std::vector<std::string_view> words = words_of(action);
  return std::any_of(words.begin(), words.end(), is_parameter);
}

std::optional<ActionPrice> price_by(const PriceRule& rule, const EnergyFigures& figures,
                                    std::string_view action) {
  const std::optional<Bindings> parameters = match(rule.pattern, action);
  if (!parameters) return std::nullopt;
  const double pj = evaluate_formula(rule.formula, [&](std::string_view name) -> std::optional<double> {
    if (const auto found = parameters->find(name); found != parameters->end()) return found->second;
    if (const auto found = figures.find(name); found != figures.end()) return found->second.pj;
    return std::nullopt;
  });
  if (!std::isfinite(pj) || pj < 0) {
    throw std::invalid_argument("formula " + in_quotes(rule.formula) + " gives no energy for " +
                                in_quotes(action));
  }
  return ActionPrice{pj, true, rule.component, rule.formula, rule.source};
}

ActionPrice price_of(const EnergyTable& table, const std::string& action) {
  if (const auto found = table.prices.find(action); found != table.prices.end()) return found->second;
  for (const PriceRule& rule : table.rules) {
    if (std::optional<ActionPrice> price = price_by(rule, table.figures, action)) return *price;
  }
  throw std::invalid_argument("energy table " + in_quotes(table.name) + " has no price for " +
                              in_quotes(action) + "; every action needs one: add it to prices");
}

Energy price(const EnergyTable& table, const ActionCounts& counts) {
  std::map<std::string, EnergyComponent> components;
  for (const auto& [action, count] : counts) {
    const ActionPrice each = price_of(table, action);
    EnergyComponent& component = components[each.component];
    const double pj = each.pj * static_cast<double>(count);
    component.pj += pj;
    if (each.derived) component.derived_pj += pj;
  }
  Energy energy;
  energy.table = table.name;
  for (auto& [name, component] : components) {
    component.name = name;
    energy.components.push_back(component);
  }
  return energy;
}

EnergyTable priced_for(const EnergyTable& table, const ActionCounts& counts) {
  EnergyTable result = table;
  result.prices.clear();
  for (const auto& [action, count] : counts) result.prices[action] = price_of(table, action);
  return result;
}

double Energy::total_pj() const {
  double sum = 0;
  for (const EnergyComponent& component : components) sum += component.pj;
  return sum;
}

double Energy::derived_pj() const {
  double sum = 0;
  for (const EnergyComponent& component : components) sum += component.derived_pj;
  return sum;
}

Energy& Energy::operator+=(const Energy& other) {
  if (table.empty()) table = other.table;
  if (!other.table.empty() && other.table != table) {
    throw std::invalid_argument("energies of the tables " + in_quotes(table) + " and " +
                                in_quotes(other.table) + " do not add up");
  }
  has_total = has_total && other.has_total;
  for (const EnergyComponent& add : other.components) {
    const auto place = std::lower_bound(
        components.begin(), components.end(), add.name,
        [](const EnergyComponent& each, const std::string& name) { return each.name < name; });
    if (place == components.end() || place->name != add.name) {
      components.insert(place, add);
    } else {
      place->pj += add.pj;
      place->derived_pj += add.derived_pj;
    }
  }
  return *this;
}

}  // namespace mantissa
