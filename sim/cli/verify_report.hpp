// What `mantissa verify` tells: a table for people, JSON for programs, a diagnosis for a mismatch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/verify/rtl_coverage.hpp"
#include "sim/verify/verify_run.hpp"

namespace mantissa::cli {

struct ConfigurationReport {
  std::string unit;
  std::string configuration;
  std::string device;  // the top module
  std::uint64_t seed = 0;
  verify::VerifyReport run;
  std::string reproduce;  // command line; only with a mismatch
  std::string wave;       // file; only with a mismatch
};

struct UnitCoverage {
  std::string unit;
  verify::CoverageShare lines;
  verify::CoverageShare toggles;
  std::vector<std::string> missed;
  std::vector<verify::CoverageExclusion> exclusions;
};

struct SessionReport {
  std::vector<ConfigurationReport> configurations;
  std::vector<UnitCoverage> coverage;

  bool passed() const;
  std::string json() const;
  std::string text() const;
};

// The port tables of all units, in Markdown: what rtl/PORTS.md shows.
std::string unit_list();
std::string unit_list_json();

}  // namespace mantissa::cli
