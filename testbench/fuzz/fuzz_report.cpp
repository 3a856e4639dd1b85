// Any bytes as a report.json: refused with std::invalid_argument in one line, or every figure can be read.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include "sim/report/report_reader.hpp"

// The name and signature are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const mantissa::ReadReport report = mantissa::parse_report(text, "fuzz.json");
    if (report.layers.size() > size || report.tables.size() > size) __builtin_trap();
  } catch (const std::invalid_argument& error) {
    for (const char c : std::string_view(error.what())) {
      if (c == '\n' || c == '\x1b') __builtin_trap();
    }
  }
  return 0;
}
