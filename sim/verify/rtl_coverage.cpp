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

std::string source_line(const std::string& file, const std::string& number) {
  std::ifstream in(file);
  std::string line;
  for (int left = std::stoi(number); left > 0 && std::getline(in, line); --left) {
  }
  return line;
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
    point.instance = keys["h"];
    point.file = keys["f"];
    point.line = keys["l"];
    point.what = keys["o"];
    point.hits += std::stoull(line.substr(end + 1));
  }
}

bool RtlCoverage::excluded(const Point& point, const std::vector<CoverageExclusion>& exclusions) {
  return std::any_of(exclusions.begin(), exclusions.end(), [&point](const CoverageExclusion& exclusion) {
    const std::string end = "." + exclusion.instance;
    const bool same_instance =
        point.instance.size() >= end.size() &&
        point.instance.compare(point.instance.size() - end.size(), end.size(), end) == 0;
    const bool same_module = exclusion.module.empty() || point.module == exclusion.module;
    if (!same_instance || !same_module) return false;
    if (point.toggle) return !exclusion.signal.empty() && point.what.rfind(exclusion.signal, 0) == 0;
    return !exclusion.line.empty() &&
           source_line(point.file, point.line).find(exclusion.line) != std::string::npos;
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
    list.push_back(std::filesystem::path(point.file).filename().string() + ":" + point.line +
                   (point.toggle ? " toggle " : " line ") + point.what);
  }
  return list;
}

}  // namespace mantissa::verify
