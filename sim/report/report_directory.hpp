// `--out DIR`: report.json, layers.csv, report.html and the plots, which appear together or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/report/replay_report.hpp"

namespace mantissa {

// Throws std::invalid_argument unless a report may be put at `directory`: it does not exist, is empty, or
// holds nothing but a former report. To be asked before the long work begins.
void check_report_directory(const std::filesystem::path& directory);

// Makes everything in a directory beside `directory` and puts it in place at the end; a former report is
// replaced in one step. After an error or a signal everything is as it was. Returns what the user should be
// told, such as that there are no plots without matplotlib. Throws std::invalid_argument as above,
// std::runtime_error where something cannot be written.
std::vector<std::string> write_report(const ReplayReport& report, const std::filesystem::path& directory);

}  // namespace mantissa
