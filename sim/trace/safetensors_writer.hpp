// Safetensors files in one stream: neither the file nor a tensor has to fit into memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/trace/safetensors.hpp"

namespace mantissa::trace {

// Gives elements of one tensor, from `first` on. The writer asks in order, piece by piece.
using TensorSource =
    std::function<void(const TensorInfo& tensor, std::uint64_t first, std::span<float> values)>;

// Writes the tensors in the given order, without gaps (their begin and end are not looked at), rounded to
// nearest in their type; what is too large becomes its largest number. The file appears under its name only
// when it is complete. Throws std::invalid_argument for a name that appears twice or a shape beyond all
// files, std::runtime_error where the file cannot be written.
void write_safetensors(const std::filesystem::path& path, const std::vector<TensorInfo>& tensors,
                       const std::map<std::string, std::string>& metadata, const TensorSource& source);

// All that stands before the data of such a file: length and JSON.
std::string safetensors_header(std::vector<TensorInfo> tensors,
                               const std::map<std::string, std::string>& metadata);

}  // namespace mantissa::trace
