// What a trace's metadata say: its layers, and the run that it was recorded in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

// Metadata keys.
inline constexpr std::string_view layers_key = "mantissa.layers";
inline constexpr std::string_view run_key = "mantissa.run";
inline constexpr std::string_view origin_key = "mantissa.origin";

// All of these throw std::invalid_argument that begins with `file`.
std::vector<Layer> parse_layers(std::string_view text, const std::string& file);

struct RunRecord {
  Run run;
  std::optional<std::vector<std::uint32_t>> steps;  // that the file should have
};
RunRecord parse_run(std::string_view text, const std::vector<Layer>& layers, const std::string& file);

// The way back, for writers.
std::string layers_json(const std::vector<Layer>& layers);

}  // namespace mantissa::trace
