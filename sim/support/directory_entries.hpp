// What lies in a directory. Not std::filesystem's iterator: where there is no memory for it, it ends the
// program.
#pragma once

#include <string>
#include <vector>

namespace mantissa {

// The names, sorted, without . and .. Throws std::runtime_error, `cannot read PATH: why`.
std::vector<std::string> entries_of(const std::string& directory);
// The same of a directory that need not be there, or readable: then there are none.
std::vector<std::string> entries_if_any(const std::string& directory);

}  // namespace mantissa
