// tools/plot: the figures of a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace mantissa {

// Draws into an existing directory; the page of a replay takes page_columns(). Returns what the user should
// be told, such as that there are no plots without matplotlib. Throws std::runtime_error where the tool
// fails.
std::vector<std::string> draw_plots(const std::filesystem::path& json, const std::filesystem::path& directory,
                                    const std::string& columns = "");

}  // namespace mantissa
