// Any bytes as a SCALE-Sim topology: refused with std::invalid_argument in one line, or layers of positive
// sizes.
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/trace/scalesim_topology.hpp"

// The name and signature are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream csv(std::string(data, data + size));
  try {
    for (const auto& layer : mantissa::trace::read_scalesim_topology(csv, "fuzz.csv", 1)) {
      for (const auto& shape : {layer.input, layer.weight, layer.output}) {
        for (const std::int64_t side : shape) {
          if (side <= 0) __builtin_trap();
        }
      }
    }
  } catch (const std::invalid_argument& error) {
    for (const char c : std::string_view(error.what())) {
      if (c == '\n' || c == '\x1b') __builtin_trap();
    }
  }
  return 0;
}
