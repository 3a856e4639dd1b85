#include "testbench/arch/stream_cases.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "testbench/arch/block_walk_pass.hpp"
#include "testbench/arch/dice.hpp"

namespace mantissa::test {
namespace {

std::vector<int> random_tensors(Dice& dice) {
  std::vector<int> bits(static_cast<std::size_t>(dice.pick(1, 3)));
  const bool odd = dice.chance(40);
  for (int& each : bits) each = odd ? static_cast<int>(dice.pick(1, 32)) : dice.one_of({4, 8, 8, 16, 32});
  return bits;
}

// Of two halves: room for the lanes' elements, for some doublings of them, a byte less, or anything.
Count random_buffer(Dice& dice, Count lanes, const std::vector<int>& bits) {
  const int sum = std::accumulate(bits.begin(), bits.end(), 0);
  const Count half = bytes_of(lanes << dice.pick(0, 5), sum);
  return std::max<Count>(1, dice.one_of<Count>({2 * half, 2 * half, 2 * half + 1, 2 * half - 1, 65536,
                                                dice.pick(half, 3 * half)}));
}

}  // namespace

StreamCase random_stream_case(std::mt19937_64& random) {
  Dice dice(random);
  StreamCase one;
  StreamJob& job = one.job;
  job.lanes = static_cast<int>(dice.chance(50) ? 1LL << dice.pick(0, 4) : dice.pick(1, 20));
  job.elements = dice.pick(1, dice.one_of<Count>({job.lanes, 30, 200, 600}));
  job.input_bits = random_tensors(dice);
  job.output_bits = random_tensors(dice);
  job.latency = static_cast<int>(dice.pick(0, 6));
  if (dice.chance(40)) job.ready = static_cast<std::uint64_t>(dice.pick(0, 120));
  if (dice.chance(1)) job.elements = 0;
  if (dice.chance(1)) job.lanes = 0;
  if (dice.chance(1)) job.input_bits.clear();
  if (dice.chance(1)) job.output_bits.clear();

  Architecture& arch = one.arch;
  arch.dram_latency_cycles = dice.chance(20) ? 0 : dice.pick(1, 40);
  arch.dram_burst_bytes = dice.one_of<Count>({1, 2, 3, 4, 8, 16, 64});
  arch.dram_burst_cycles =
      dice.chance(50) ? Ratio(dice.pick(1, 4)) : Ratio{dice.pick(1, 12), dice.pick(2, 7)};
  arch.dram_outstanding = static_cast<int>(dice.pick(1, 8));
  const Count lanes = std::max(1, job.lanes);
  arch.a_buffer_bytes = random_buffer(dice, lanes, job.input_bits);
  arch.b_buffer_bytes = random_buffer(dice, lanes, job.output_bits);
  return one;
}

}  // namespace mantissa::test
