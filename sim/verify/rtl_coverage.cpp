#include "sim/verify/rtl_coverage.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace mantissa::verify {
namespace {

// A line is C '\1key\2value\1key\2value...' count.
std::map<std::string, std::string> keys_of(const std::string& text) {
  std::map<std::string, std::string> keys;
  std::size_t at = 0;
  while ((at = text.find('\x01', at)) != std::string::npos) {
    const std::size_t middle = text.find('\x02', at);
    const std::size_t end = std::min(text.find('\x01', at + 1), text.size());
    if (middle == std::string::npos || middle > end) break;
    keys[text.substr(at + 1, middle - at - 1)] = text.substr(middle + 1, end - middle - 1);
    at = end;
  }
  return keys;
}

}  // namespace

void RtlCoverage::add(const std::filesystem::path& data) {
  std::ifstream in(data);
  std::string line;
  if (!std::getline(in, line) || line.rfind("# SystemC::Coverage", 0) != 0) {
    throw std::runtime_error(data.string() + " is not coverage data of Verilator");
  }
  while (std::getline(in, line)) {
    const std::size_t end = line.rfind('\'');
    if (line.rfind("C '", 0) != 0 || end == std::string::npos) continue;
    const std::string text = line.substr(3, end - 3);
    std::map<std::string, std::string> keys = keys_of(text);
    const std::string& page = keys["page"];  // v_line/module, v_branch/module, v_toggle/module
    const std::size_t slash = page.find('/');
    if (slash == std::string::npos) continue;
    Point& point =
        points_[keys["page"] + "|" + keys["l"] + "|" + keys["n"] + "|" + keys["o"] + "|" + keys["h"]];
    point.toggle = page.rfind("v_toggle", 0) == 0;
    point.module = page.substr(slash + 1);
    point.file = std::filesystem::path(keys["f"]).filename().string();
    point.line = keys["l"];
    point.what = keys["o"];
    point.hits += std::stoull(line.substr(end + 1));
  }
}

bool RtlCoverage::excluded(const Point& point, const std::vector<CoverageExclusion>& exclusions) {
  return std::any_of(exclusions.begin(), exclusions.end(), [&](const CoverageExclusion& exclusion) {
    // Modules with parameters are elaborated as name__A1_B2...
    const bool same_module =
        point.module == exclusion.module || point.module.rfind(exclusion.module + "__", 0) == 0;
    const bool same_point =
        exclusion.signal.empty() || (point.toggle && point.what.rfind(exclusion.signal, 0) == 0);
    return same_module && same_point;
  });
}

CoverageShare RtlCoverage::share(bool toggle, const std::vector<CoverageExclusion>& exclusions) const {
  CoverageShare share;
  for (const auto& [key, point] : points_) {
    if (point.toggle != toggle || (point.hits == 0 && excluded(point, exclusions))) continue;
    ++share.total;
    if (point.hits > 0) ++share.hit;
  }
  return share;
}

CoverageShare RtlCoverage::lines(const std::vector<CoverageExclusion>& exclusions) const {
  return share(false, exclusions);
}
CoverageShare RtlCoverage::toggles(const std::vector<CoverageExclusion>& exclusions) const {
  return share(true, exclusions);
}

std::vector<std::string> RtlCoverage::missed(const std::vector<CoverageExclusion>& exclusions) const {
  std::vector<std::string> list;
  for (const auto& [key, point] : points_) {
    if (point.hits > 0 || excluded(point, exclusions)) continue;
    list.push_back(point.file + ":" + point.line + (point.toggle ? " toggle " : " line ") + point.what);
  }
  return list;
}

}  // namespace mantissa::verify
