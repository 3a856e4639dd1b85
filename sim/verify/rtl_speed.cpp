#include "sim/verify/rtl_speed.hpp"

#include <algorithm>
#include <chrono>

namespace mantissa::verify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t seed = 1;
constexpr std::size_t transactions = 2048;
constexpr int cycles_per_round = 16384;
constexpr int rounds = 5;  // the best one counts: the others had a neighbour on the machine
constexpr double seconds_per_round = 0.1;

struct Stimulus {
  std::vector<Transaction> inputs;
  std::vector<std::uint64_t> operations;
  int rate = 256;  // inputs offered in 256 cycles
};

Stimulus stimulus_of(Reference& reference) {
  Stimulus stimulus;
  stimulus.rate = reference.input_rate();
  for (std::size_t i = 0; i < transactions; ++i) {
    stimulus::Dice dice(seed, i);
    stimulus.inputs.push_back(reference.busy_stimulus(i, dice));
    stimulus.operations.push_back(reference.operations(stimulus.inputs.back()));
  }
  return stimulus;
}

// From reset, the stimulus at full speed, again and again. Returns operations: what was taken in, or given
// out where one input leads to many outputs.
std::uint64_t run(const Stimulus& stimulus, RtlModule& rtl) {
  std::uint64_t taken = 0;
  std::uint64_t given = 0;
  std::size_t next = 0;
  bool offered = false;
  rtl.bare_inputs(stimulus.inputs[next]);
  rtl.bare_cycle(true, false, false);
  for (int cycle = 0; cycle < cycles_per_round; ++cycle) {
    offered = offered || cycle * stimulus.rate % 256 < stimulus.rate;
    const RtlModule::Transfers transfers = rtl.bare_cycle(false, offered, true);
    if (transfers.given) ++given;
    if (!transfers.taken) continue;
    offered = false;
    taken += stimulus.operations[next];
    next = (next + 1) % transactions;
    rtl.bare_inputs(stimulus.inputs[next]);
  }
  return std::max(taken, given);
}

}  // namespace

double rtl_speed(Reference& reference, RtlModule& rtl) {
  const Stimulus stimulus = stimulus_of(reference);
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    std::uint64_t operations = 0;
    double seconds = 0;
    const Clock::time_point start = Clock::now();
    while (seconds < seconds_per_round) {
      operations += run(stimulus, rtl);
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    best = std::max(best, static_cast<double>(operations) / seconds);
  }
  return best;
}

}  // namespace mantissa::verify
