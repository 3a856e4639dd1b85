// What a trace's metadata say of its capture: what the model did, and what of it is not in the file.
#pragma once

#include <string>
#include <string_view>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

inline constexpr std::string_view capture_key = "mantissa.capture";

// Throws std::invalid_argument that begins with `file`.
Capture parse_capture(std::string_view text, const std::string& file);

// The way back, for writers.
std::string capture_json(const Capture& capture);

}  // namespace mantissa::trace
