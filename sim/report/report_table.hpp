// A replay in the terminal: a summary that a person reads in ten seconds, and tables per layer on request.
#pragma once

#include <string>

#include "sim/report/replay_report.hpp"
#include "sim/report/totals.hpp"

namespace mantissa {

// One row per step and layer.
std::string pass_table(const ReplayReport& report, Pass pass);
// Speed-up of training for each Depth and Port beside its bound; empty without staging points.
std::string staging_table(const ReplayReport& report, const ReportTotals& totals);
// Its last line is the energy per MAC, all tables side by side.
std::string summary(const ReplayReport& report, const ReportTotals& totals);
// One line: what a loop over design points wants to see of each.
std::string summary_line(const ReplayReport& report);
// Staging and summary; with `layers` the tables of all passes before them.
std::string report_text(const ReplayReport& report, bool layers);

}  // namespace mantissa
