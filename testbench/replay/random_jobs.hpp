// Replays drawn at random: a few small layers, a recipe, and a machine to run them.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "sim/arch/architecture.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/trace/synthetic.hpp"

namespace mantissa::test {

// Which arrays a machine may have: any, or those whose RTL comes with the build.
enum class Arrays : std::uint8_t { any, compiled };

struct RandomJob {
  trace::Network network;
  trace::SyntheticNumbers numbers;
  Recipe recipe;
  Architecture arch;
};
RandomJob random_job(std::mt19937_64& engine, Arrays arrays);

// The same results on a machine of which nothing is known to be small: the first one, with the array's size.
Architecture plain_machine(const Architecture& arch);

std::string text_of(const RandomJob& job);

}  // namespace mantissa::test
