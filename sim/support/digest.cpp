#include "sim/support/digest.hpp"

#include <cstdint>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "models/random/stream.hpp"

namespace mantissa {

std::string digest(std::string_view text) {
  std::uint64_t low = 0;
  std::uint64_t high = mix(text.size());
  const auto take = [&](std::uint64_t word) {
    low = mix(low ^ word);
    high = mix(high + low);
  };
  // Eight bytes at a time: traces have hundreds of megabytes.
  while (text.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    take(word);
    text.remove_prefix(sizeof word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, text.data(), text.size());
  take(rest);
  std::ostringstream name;
  name << std::hex << std::setfill('0') << std::setw(16) << high << std::setw(16) << low;
  return name.str();
}

}  // namespace mantissa
