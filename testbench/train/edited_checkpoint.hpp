// A checkpoint with other contents and a digest that fits them: what only a reader that checks every field
// refuses.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

namespace mantissa::train::test {

// Reads the checkpoint, lets `change` have its JSON, and writes it back.
void edit_checkpoint(const std::filesystem::path& path, const std::function<void(nlohmann::json&)>& change);

}  // namespace mantissa::train::test
