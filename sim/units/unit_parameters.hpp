// The parameters of a unit: the names and values of its RTL module's parameters. SystemC units, golden
// references and Verilator all take the same list.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/format/format.hpp"
#include "models/format/rounding.hpp"

namespace mantissa {

class UnitParameters {
 public:
  using Value = std::pair<std::string, int>;

  UnitParameters() = default;
  UnitParameters(std::initializer_list<Value> values) : values_(values) {}

  const std::vector<Value>& values() const { return values_; }
  // Throws std::out_of_range where there is no such parameter.
  int at(std::string_view name) const;
  bool has(std::string_view name) const;
  void set(std::string_view name, int value);  // replaces or adds
  // These over the values that were there.
  void override_with(const UnitParameters& others);
  UnitParameters with(const UnitParameters& others) const;

  // Four parameters that begin with `prefix`: Exp, Man, Bias, Specials (mantissa_pkg.sv). Without Bias or
  // Specials the format is IEEE-like.
  Format format(const std::string& prefix) const;
  void set_format(const std::string& prefix, const Format& format);
  // The named parameter, a mode of mantissa_pkg.sv, with its random bits. Throws std::invalid_argument for a
  // number that is no mode.
  Rounding rounding(std::string_view name, std::string_view random_bits = "RndBits") const;
  void set_rounding(const std::string& name, Rounding rounding);

 private:
  std::vector<Value> values_;
};

// The eight parameters of a unit with operands a and b.
UnitParameters operand_formats(const Format& a, const Format& b);

// Width of a port for random bits: at least one.
constexpr int random_port_bits(Rounding rounding) { return rounding.stochastic() ? rounding.random_bits : 1; }

}  // namespace mantissa
