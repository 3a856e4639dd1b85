// report.json: everything that a replay found, units in the names of the keys. Equal replays give equal
// bytes. README.md lists the keys.
#pragma once

#include <string>

#include "sim/report/replay_report.hpp"

namespace mantissa {

// The value of "mantissa_report", the first key; it grows when a key changes its meaning.
inline constexpr int report_schema = 1;

// Throws std::logic_error where the report breaks a law of totals.hpp.
std::string report_json(const ReplayReport& report);

}  // namespace mantissa
