// Dot products that were measured on a device, from a text file (models/SILICON.md has the format).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/format/format.hpp"

namespace mantissa::silicon {

struct MeasuredDots {
  Format a_format;
  Format b_format;
  std::size_t k = 0;            // products of each
  std::vector<std::uint8_t> a;  // k codes of each, one after the other
  std::vector<std::uint8_t> b;
  std::vector<std::uint32_t> start;   // FP32 bits
  std::vector<std::uint32_t> result;  // FP32 bits
  std::vector<std::uint64_t> line;    // in the file

  std::size_t size() const { return line.size(); }
};

// Throws std::invalid_argument, `NAME:LINE: problem`, for a line that is not one measurement, codes outside
// their format, a length that differs from the first line's, and a text without any.
MeasuredDots parse_measured_dots(std::string_view text, const std::string& name, const Format& a_format,
                                 const Format& b_format);
// Of a file. Throws as above, and where it cannot be read or is larger than 256 MiB.
MeasuredDots read_measured_dots(const std::string& path, const Format& a_format, const Format& b_format);

}  // namespace mantissa::silicon
