// layers.csv: one line per layer and pass, for a spreadsheet or a script.
#pragma once

#include <string>

#include "sim/report/replay_report.hpp"

namespace mantissa {

// RFC 4180 with \n; a figure that does not exist is an empty field, an exact result has the SQNR "inf".
std::string report_csv(const ReplayReport& report);

}  // namespace mantissa
