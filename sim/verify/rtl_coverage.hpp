// RTL line and toggle coverage from Verilator's data files, merged over the configurations of a unit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/verify/unit_kind.hpp"

namespace mantissa::verify {

struct CoverageShare {
  std::uint64_t hit = 0;
  std::uint64_t total = 0;
  double percent() const {
    return total == 0 ? 100.0 : 100.0 * static_cast<double>(hit) / static_cast<double>(total);
  }
};

class RtlCoverage {
 public:
  // Adds the points of one data file. A point that any configuration has hit is hit. Throws
  // std::runtime_error for a file that is not coverage data.
  void add(const std::filesystem::path& data);

  CoverageShare lines(const std::vector<CoverageExclusion>& exclusions = {}) const;
  CoverageShare toggles(const std::vector<CoverageExclusion>& exclusions = {}) const;
  // "fp_round.sv:77 toggle placed[3]" of every point that was not hit and is not excluded.
  std::vector<std::string> missed(const std::vector<CoverageExclusion>& exclusions = {}) const;
  bool empty() const { return points_.empty(); }

 private:
  struct Point {
    bool toggle = false;
    std::string module;    // as elaborated
    std::string instance;  // path from the top module on, TOP.unit.u_part
    std::string file;
    std::string line;
    std::string what;
    std::uint64_t hits = 0;
  };
  CoverageShare share(bool toggle, const std::vector<CoverageExclusion>& exclusions) const;
  static bool excluded(const Point& point, const std::vector<CoverageExclusion>& exclusions);

  std::map<std::string, Point> points_;
};

}  // namespace mantissa::verify
