// SCALE-Sim's topology files as networks: one line per layer, in either of its two forms.
//   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
//   Layer, M, N, K,
// The first line is the heading. Convolutions have no padding there; a ninth column is the stride in width.
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <string>

#include "sim/trace/networks.hpp"

namespace mantissa::trace {

// Convolutions take `batch` images. A GEMM becomes a linear layer, input [M, K], weight [N, K], and `batch`
// must be 1. Throws std::invalid_argument that names file and line.
Network read_scalesim_topology(std::istream& csv, const std::string& file, std::int64_t batch);
Network read_scalesim_topology(const std::filesystem::path& path, std::int64_t batch);

}  // namespace mantissa::trace
