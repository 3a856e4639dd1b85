// One pass of a layer as the second machine runs it, with its tensors as they are: the contract of the
// engines that simulate every cycle (ARITHMETIC.md 7, "Blocks").
#pragma once

#include "sim/arch/block_job.hpp"
#include "sim/machine/array_job.hpp"

namespace mantissa {

struct BlockArrayJob {
  ConvShape shape;
  Pass pass = Pass::forward;
  BlockMapping mapping;
  Rectangle outputs;  // rows by global columns, from a multiple of the array's rows on
  // What A and B are made of: forward x and w, input gradient g and w, weight gradient g and x. Whole
  // tensors, not lowered.
  EncodedTensor first;
  EncodedTensor second;
  std::span<const float> bias;  // one per global column of the pass, or none
  int c_scale = 0;              // exponent of the drain quantizers
  bool skip = false;
  bool packed = false;  // the first operand is g, and lies in packed lines
  DrawSource draws;     // of the drain's lanes, unit 0
  // Bits of an element in memory; 0: those of its format. Wider ones are padded.
  int a_bits = 0;
  int b_bits = 0;
  int c_bits = 0;
  DrainStatisticsJob statistics = {};
  // After as many cycles a machine gives up: RTL that waits for ever is a UnitFailure.
  std::uint64_t most_cycles = ~std::uint64_t{0};
};

// The job as the closed form sees it.
BlockJob shape_of(const BlockArrayJob& job, const ArrayFormats& formats);

// Where an element of the results lies, as a tensor [batch, channels, pixels]: rows are (batch, pixel).
struct ResultTensor {
  std::int64_t channels = 1;
  std::int64_t pixels = 1;
  std::int64_t place(std::int64_t row, std::int64_t column) const {
    return (row / pixels * channels + column) * pixels + row % pixels;
  }
};
// Not of a weight gradient.
ResultTensor results_of(const BlockArrayJob& job);

// Throws std::invalid_argument for a job that a machine with this array does not take.
void check_job(const BlockArrayJob& job, const Architecture& arch, const ArrayFormats& formats);

}  // namespace mantissa
