// IDX files in gzip, from memory: two zero bytes, the type (8: unsigned bytes), the number of sizes, the
// sizes big-endian, the elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mantissa::train {

struct Idx {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> elements;
};

// The largest file of Fashion-MNIST has 45 MiB; twice that is no such file, zipped or not.
inline constexpr std::size_t max_idx_bytes = std::size_t{96} << 20;

// Throws std::invalid_argument, which begins with `name`. An archive that holds more than its header says is
// refused as soon as that shows: what it costs does not depend on what it would become.
Idx parse_idx(std::span<const char> gzipped, const std::string& name, std::size_t rank);

}  // namespace mantissa::train
