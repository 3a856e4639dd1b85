// Where the files are that come with the program: configurations, RTL, tools/plot.
#pragma once

#include <filesystem>

namespace mantissa {

// A directory in which they lie as in the source tree: `sim/configs`, `rtl`, `tools/plot`. $MANTISSA_DATA if
// that is set, else what belongs to the program's own file: share/mantissa beside it, which in a build
// directory is a link to the sources, or that of the installation. Throws std::runtime_error with the places
// where it looked.
std::filesystem::path data_directory();

}  // namespace mantissa
