// libFuzzer: any bytes as a recipe, an architecture and an energy table are taken or refused with
// std::invalid_argument; nothing else may happen. What is taken must pass its own checks.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/support/data_directory.hpp"

// No shipped file is looked for here.
std::filesystem::path mantissa::data_directory() { return {}; }

namespace {

template <typename Load>
void try_to(Load load) {
  try {
    load();
  } catch (const std::invalid_argument& error) {
    // A message of one line that a terminal survives: input is quoted or escaped in it.
    for (const char c : std::string_view(error.what())) {
      if (c == '\n' || c == '\x1b' || c == '\0') __builtin_trap();
    }
  }
}

}  // namespace

// The name and signature are libFuzzer's.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Through char: a copy of bytes, where one of unsigned char would be a loop with instrumentation.
  const std::string text(reinterpret_cast<const char*>(data), size);
  // One of the three: parsing and throwing thrice would take three times as long. A change of any byte may
  // choose another.
  switch (std::hash<std::string>()(text) % 3) {
    case 0:
      try_to([&] { mantissa::parse_recipe(text, "fuzz.yaml").check(); });
      return 0;
    case 1:
      try_to([&] { mantissa::parse_architecture(text, "fuzz.yaml").check(); });
      return 0;
    default:
      break;
  }
  try_to([&] {
    const mantissa::EnergyTable table = mantissa::parse_energy_table(text, "fuzz.yaml");
    const mantissa::ActionCounts counts = {{"multiply e5m2 e4m3", 3}, {"accumulate int48", 2}, {"draw", 1}};
    const mantissa::Energy energy = mantissa::price(table, counts);
    if (!(energy.total_pj() >= 0)) __builtin_trap();
  });
  return 0;
}
