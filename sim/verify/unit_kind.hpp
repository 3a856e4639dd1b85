// A unit as `mantissa verify` knows it: its documentation, its configurations, and how to make each of its
// three models. The tables of rtl/PORTS.md are printed from here.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/unit_makers.hpp"
#include "sim/verify/reference.hpp"

namespace mantissa::verify {

struct ParameterNote {
  std::string name;
  int value = 0;  // the default
  std::string what;
};

struct PortNote {
  std::string name;
  std::string width;  // as the RTL writes it
  std::string what;
};

struct Configuration {
  std::string name;
  UnitParameters parameters;  // those that differ from the defaults
  bool coverage = true;       // false: large, and nothing in it that the unit's other configurations lack
};

// Something that RTL coverage need not reach, with the reason: toggles of a signal, or a line.
struct CoverageExclusion {
  std::string instance;     // the end of its path in the unit
  std::string module = {};  // as elaborated, with its parameters; empty: any
  std::string signal = {};  // or its beginning
  std::string line = {};    // what is in the line of source
  std::string reason;
};

// Several lists of parameters, one behind the other.
std::vector<ParameterNote> joined(std::initializer_list<std::vector<ParameterNote>> lists);
// A format's four parameters, E5M2 by default: "AExp" to "ASpecials" of `of`. The first of a unit says what
// the special codes are.
std::vector<ParameterNote> format_notes(const std::string& prefix, const std::string& of, bool first = false);

struct UnitKind {
  std::string name;
  std::string module;   // of the RTL; usually the name
  std::string what;     // one line
  std::string section;  // of ARITHMETIC.md
  std::string latency;
  std::vector<ParameterNote> parameters;
  std::vector<PortNote> ports;  // without clock, reset and handshake, which every unit has
  std::vector<Configuration> configurations;
  UnitMaker* systemc = nullptr;
  std::function<std::unique_ptr<Reference>(const UnitParameters&)> reference;
  std::vector<std::string> optional_outputs = {};  // that a foreign device need not have
  std::uint64_t default_transactions = 100000;
  bool back_pressure = true;  // false: the unit has no ready_i
  std::vector<CoverageExclusion> exclusions = {};

  // Defaults, with those of the configuration over them.
  UnitParameters complete(const UnitParameters& given) const;
};

}  // namespace mantissa::verify
