// What the layers of one worker carry from step to step, registers and counters, as JSON and back.
#pragma once

#include <cstdint>
#include <string>

#include "sim/support/json.hpp"
#include "sim/support/json_record.hpp"
#include "sim/train/model.hpp"

namespace mantissa::train {

// Counters far below where their sums would overflow; exact as floating-point numbers, too.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 53;
std::uint64_t count_of(const JsonRecord& record, const std::string& key, std::uint64_t most);

Json layers_json(const Model& model);
// From the list "layers" of a record. Throws std::invalid_argument for what this network's layers cannot
// hold.
void restore_layers(const JsonRecord& record, Model& model);

}  // namespace mantissa::train
