#include "sim/support/digest.hpp"

#include <cstdint>
#include <iomanip>
#include <sstream>

#include "models/random/stream.hpp"

namespace mantissa {

std::string digest(std::string_view text) {
  std::uint64_t low = 0;
  std::uint64_t high = 1;
  for (const char c : text) {
    low = mix(low ^ static_cast<unsigned char>(c));
    high = mix(high + low);
  }
  std::ostringstream name;
  name << std::hex << std::setfill('0') << std::setw(16) << high << std::setw(16) << low;
  return name.str();
}

}  // namespace mantissa
