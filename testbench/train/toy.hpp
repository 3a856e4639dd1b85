// A data set and a network that train in milliseconds, for tests of what does not need real ones.
#pragma once

#include <string>

#include "sim/recipe/recipe.hpp"
#include "sim/train/fashion_mnist.hpp"
#include "sim/train/network.hpp"
#include "sim/train/trainer.hpp"

namespace mantissa::train::test {

// Images of 8 x 8 with one bright stripe per class, in noise.
FashionMnist toy_data(int training, int validation);

// Convolutions with stride and padding, norms, a residual with a shortcut, pooling, a linear layer with bias.
Network toy_network();

RunOptions toy_options(int epochs);

// The shipped recipe of that name, with thresholds and scales refreshed often enough for a short run.
Recipe toy_recipe(const std::string& name);

}  // namespace mantissa::train::test
