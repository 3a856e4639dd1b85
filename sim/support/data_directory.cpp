#include "sim/support/data_directory.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace mantissa {

namespace fs = std::filesystem;

fs::path data_directory() {
  const char* own = std::getenv("MANTISSA_DATA");  // NOLINT(concurrency-mt-unsafe): nobody sets variables
  std::vector<fs::path> places;
  if (own != nullptr && *own != '\0') {
    places = {own};
  } else {
    const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
    places = {program / "share/mantissa", program / MANTISSA_DATA_FROM_PROGRAM};
  }
  std::string tried;
  for (const fs::path& place : places) {
    std::error_code error;
    if (fs::is_directory(place / "sim/configs", error)) return fs::canonical(place);
    tried += (tried.empty() ? "" : " or ") + place.lexically_normal().string();
  }
  throw std::runtime_error("the program's configurations and RTL are not in " + tried +
                           "; set MANTISSA_DATA to share/mantissa of an installation or to the source tree");
}

}  // namespace mantissa
