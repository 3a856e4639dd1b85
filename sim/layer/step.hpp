// One step of a run, as its layers see it: where random numbers come from, and how much is counted.
#pragma once

#include <cstdint>

#include "models/format/rounding.hpp"
#include "models/mac/stream_id.hpp"
#include "models/random/stream.hpp"

namespace mantissa {

struct Step {
  std::uint64_t seed = 1;    // of the run
  std::uint32_t number = 0;  // of the step
  int rows = 16;             // of the array
  int cols = 16;
  int threads = 1;
  // Training. In validation quantizers round to nearest where training draws, and nothing is kept for a
  // backward pass.
  bool training = true;
  bool count = false;    // overflows and underflows of this step are counted
  bool refresh = false;  // scales and thresholds that are carried over from step to step are taken anew
  // The gradients' exponent of two beyond what their numbers already have.
  int loss_exponent = 0;

  // ARITHMETIC.md 3.
  DrawSource draws(std::uint16_t layer, Pass pass, RandomUnit unit, Operand operand = Operand::output) const {
    const StreamId stream{.step = number, .layer = layer, .pass = pass, .unit = unit, .operand = operand};
    return {.run_seed = seed, .stream = stream.value(), .lanes = cols};
  }
  Rounding rounding(const Rounding& asked) const {
    return !training && asked.stochastic() ? Rounding::rne() : asked;
  }
};

}  // namespace mantissa
