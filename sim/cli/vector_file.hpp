// Test vectors as files: packed hex words for $readmemh, and SystemVerilog localparams that unpack them.
#pragma once

#include <cstdint>
#include <string>

#include "sim/stimulus/vector_unit.hpp"

namespace mantissa::cli {

using stimulus::Parameters;
using stimulus::VectorField;
using stimulus::VectorUnit;

// So that the count is an int in SystemVerilog.
constexpr std::uint64_t max_vector_count = 0x7FFFFFFF;

struct VectorJob {
  stimulus::UnitKind kind;
  Parameters parameters;
  std::uint64_t count = 0;  // 1..max_vector_count
  std::uint64_t seed = 0;
  std::string path;  // of the words; localparams go to path + ".svh"
};

struct VectorSummary {
  std::uint64_t corners = 0;  // how many of the vectors are corners; the rest is random
  int word_bits = 0;
};

// Writes both files beside their place and moves them there, so that either both are complete or none is
// there. Throws std::runtime_error naming the file that cannot be written.
VectorSummary write_vectors(const VectorJob& job);

}  // namespace mantissa::cli
