// What a trace's metadata say of the run that it was recorded in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

inline constexpr std::string_view run_key = "mantissa.run";

struct RunRecord {
  Run run;
  std::optional<std::vector<std::uint32_t>> steps;  // that the file should have
};
// Throws std::invalid_argument that begins with `file`.
RunRecord parse_run(std::string_view text, const std::vector<Layer>& layers, const std::string& file);

// The way back, for writers.
std::string run_json(const Run& run);

}  // namespace mantissa::trace
