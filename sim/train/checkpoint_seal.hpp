// The digest that a checkpoint carries of itself: no damage to it goes unnoticed, and it stays a plain
// safetensors file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/safetensors_writer.hpp"

namespace mantissa::train {

// Where the digest stands in the file's metadata.
inline constexpr std::string_view digest_key = "mantissa.sha256";

// SHA-256 of the file that write_safetensors makes of these, with 64 zeros for its digest.
std::string seal_of(const std::vector<trace::TensorInfo>& tensors,
                    std::map<std::string, std::string> metadata, const trace::TensorSource& source);
// The same of the bytes of a file that is there; empty where it has no place for a digest.
std::string seal_of(const trace::Safetensors& file);

}  // namespace mantissa::train
