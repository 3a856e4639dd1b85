// What is learned: weights and their momenta, kept by the optimizer in the recipe's master format
// (ARITHMETIC.md 11).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/update/weight_update.hpp"
#include "sim/layer/step.hpp"
#include "sim/recipe/recipe.hpp"
#include "sim/train/tensor.hpp"

namespace mantissa::train {

struct Parameter {
  std::string name;         // layer and role: "fc.weight"
  std::uint16_t layer = 0;  // of its random numbers
  bool master = false;      // weights of GEMMs have the recipe's master format; bias, gamma, beta FP32
  bool corrected = false;   // its gradient comes with momentum and decay in it
  std::vector<std::int64_t> shape;
  Tensor value;                     // what forward passes read: FP32, or FP16 widened
  std::vector<std::uint16_t> half;  // the FP16 master itself; empty: `value` is the master
  std::vector<float> momentum;
  std::vector<float> gradient;
};

// What an update needs besides parameters.
struct Optimizer {
  float learning_rate = 0;
  float momentum = 0;
  float weight_decay = 0;
  int loss_exponent = 0;  // gradients are multiplied by 2^this
  MasterWeights master = {};
};

// He et al. 2015: normal with variance 2 / fan_in. Element i depends on seed, layer and i alone.
void initialise_weights(Parameter& parameter, std::int64_t fan_in, std::uint64_t seed);
void fill(Parameter& parameter, float value);
// After its values were set: the master in the recipe's format, which the values then are.
void make_master(Parameter& parameter, const MasterWeights& master);

// Every gradient.
bool finite(std::span<const Parameter> parameters, const Step& step);

// False, and nothing changes, if any gradient is not finite.
bool update(std::span<Parameter> parameters, const Optimizer& optimizer, const Step& step);

}  // namespace mantissa::train
