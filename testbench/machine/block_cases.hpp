// Passes for the second machine, and what the golden kernels and the closed form say of them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "sim/arch/block_cycles.hpp"
#include "sim/machine/block_array_job.hpp"

namespace mantissa::test {

// A job with its tensors.
struct OwnedPass {
  ConvShape shape;
  Pass pass = Pass::forward;
  BlockMapping mapping;
  Rectangle outputs;
  std::vector<std::uint8_t> first = {};
  std::vector<std::uint8_t> second = {};
  // Of an array of integers.
  GemmlowpRange first_range = {};
  GemmlowpRange second_range = {};
  std::vector<std::uint16_t> first_integers = {};
  std::vector<std::uint16_t> second_integers = {};
  std::vector<float> bias = {};
  int c_scale = 0;
  bool skip = true;
  bool packed = false;
  std::uint64_t run_seed = 1;
  int a_bits = 0;
  int b_bits = 0;
  int c_bits = 0;
  // Statistics that the drain takes: of a forward pass, or of a backward pass with the norm's x.
  DrainStatistics statistics = DrainStatistics::none;
  std::int64_t chunks = 1;
  std::int64_t parts = 1;
  int scale = 0;
  Format x_format = formats::e5m2;
  std::vector<std::uint8_t> x = {};
  std::vector<float> gamma = {};
  std::vector<float> mean = {};
  std::vector<float> inv = {};

  BlockArrayJob job(const Architecture& arch, const ArrayFormats& formats) const;
  std::string text() const;
};

// A machine with a pass that it can run: shapes, mappings and buffers of all kinds.
struct BlockCase {
  Architecture arch;
  ArrayFormats formats;
  OwnedPass pass;
  std::string text() const;
};
// `fix` may change machine and formats before the pass is made for them.
BlockCase random_case(
    std::mt19937_64& engine, int rows, int cols,
    const std::function<void(BlockCase&)>& fix = [](BlockCase&) {});

// Adds statistics to a case that can have them, and a buffer C with room for the x that they need.
void add_statistics(std::mt19937_64& engine, BlockCase& made);
// What the golden models of Range BN say of the channels of these results.
std::vector<ChannelStatistics> golden_statistics(const BlockArrayJob& job, const ArrayFormats& formats,
                                                 const std::vector<std::uint32_t>& codes);
// Empty: equal.
std::string difference(const std::vector<ChannelStatistics>& expected,
                       const std::vector<ChannelStatistics>& actual);

struct BlockGolden {
  ArrayRun run;
  BlockCost cost;
};
// Codes from the golden kernels on lowered matrices, flags element by element; cycles in closed form.
BlockGolden golden_run(const Architecture& arch, const ArrayFormats& formats, const BlockArrayJob& job);

// What block_cycles() wants to know of A.
BlockCounts nonzero_counts(const Architecture& arch, const BlockArrayJob& job);
std::vector<std::uint32_t> row_nonzero_counts(const BlockArrayJob& job);

}  // namespace mantissa::test
