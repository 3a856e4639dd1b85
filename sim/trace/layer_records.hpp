// What a trace's metadata say of its layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

// Metadata keys.
inline constexpr std::string_view layers_key = "mantissa.layers";
inline constexpr std::string_view origin_key = "mantissa.origin";

// Throws std::invalid_argument that begins with `file`.
std::vector<Layer> parse_layers(std::string_view text, const std::string& file);

// The way back, for writers.
std::string layers_json(const std::vector<Layer>& layers);

}  // namespace mantissa::trace
