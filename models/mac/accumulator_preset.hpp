// Accumulators of real tensor cores by name (ARITHMETIC.md 4, "Presets").
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/mac/accumulator.hpp"

namespace mantissa {

struct AccumulatorPreset {
  std::string_view name;
  std::string_view what;  // whose, and by which instruction
  Accumulator accumulator;
  std::string_view evidence;  // why we believe it
};

std::span<const AccumulatorPreset> accumulator_presets();

// Throws std::invalid_argument with what exists.
const AccumulatorPreset& accumulator_preset(std::string_view name);

// "hopper, hopper-128, ...": for messages and help.
std::string accumulator_preset_names();

}  // namespace mantissa
