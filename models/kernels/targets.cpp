#include "models/kernels/targets.hpp"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <bit>
#include <stdexcept>

namespace mantissa::kernels {
namespace {

// All supported bits, whatever is forced at the moment.
std::int64_t supported() {
  static const std::int64_t mask = hwy::SupportedTargets() & HWY_TARGETS;
  return mask;
}

std::string name_of(std::int64_t target) { return hwy::TargetName(target); }

}  // namespace

std::vector<std::string> targets() {
  std::vector<std::string> names;
  for (std::int64_t rest = supported(); rest != 0; rest &= rest - 1) names.push_back(name_of(rest & -rest));
  return names;
}

void force_target(const std::string& name) {
  const std::int64_t all = supported();
  std::int64_t wanted = name.empty() ? all : 0;
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
    if (name_of(rest & -rest) == name) wanted = rest & -rest;
  }
  if (wanted == 0) {
    std::string list;
    for (const std::string& each : targets()) list += (list.empty() ? "" : ", ") + each;
    throw std::invalid_argument("no SIMD target '" + name + "' here; there are " + list);
  }
  hwy::SetSupportedTargetsForTest(wanted == all ? 0 : wanted);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

std::string current_target() {
  const std::int64_t now = hwy::SupportedTargets() & HWY_TARGETS;
  return name_of(now & -now);
}

}  // namespace mantissa::kernels
