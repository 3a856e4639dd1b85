// One pass of Range BN as the modelled accelerator runs it, and what comes out: the contract of the engines
// that simulate every cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/format/convert.hpp"
#include "models/norm/range_bn_tensor.hpp"
#include "models/random/stream.hpp"
#include "models/tensor/encoded_tensor.hpp"
#include "sim/arch/norm_cycles.hpp"

namespace mantissa {

// What is fixed when the units are built.
struct NormSize {
  std::int64_t channels = 1;  // of the widest layer: more lanes than that are not simulated
  std::int64_t elements = 2;  // of the longest channel: a unit's counters hold that many
};

// Tensors are whole; the job may be some of their channels.
struct NormJob {
  NormDirection direction = NormDirection::forward;
  NormShape shape = {};
  std::int64_t first_channel = 0;
  std::int64_t channels = 0;
  EncodedTensor x;
  EncodedTensor g = {};          // backward
  std::span<const float> gamma;  // one per channel of the tensor, as the unit takes it; beta too
  std::span<const float> beta;   // forward
  RangeBnConfig config = {};
  // Forward: how inv is quantized between the sweeps. A job that is not all channels is given their range.
  NormPrecision precision = NormPrecision::fp32;
  std::optional<GemmlowpRange> inv_range = std::nullopt;
  std::span<const RangeBnSaved> saved;  // backward: one per channel of the tensor
  // The quantizer of the results; none: they stay FP32. Element i of the tensor takes draw i / lanes of lane
  // i mod lanes.
  std::optional<Conversion> drain = std::nullopt;
  DrawSource draws = {};

  std::int64_t elements() const { return shape.batch * shape.spatial; }  // of a channel
  // The place of an element of a channel, in stream order, in the tensor.
  std::int64_t place(std::int64_t channel, std::int64_t element) const {
    return (element / shape.spatial * shape.channels + channel) * shape.spatial + element % shape.spatial;
  }
};

// The job as the closed form sees it.
inline NormStreams streams_of(const NormJob& job) {
  return {.channels = job.channels,
          .elements = job.elements(),
          .x_bits = job.x.type().bits(),
          .result_bits = job.drain ? job.drain->to.bits() : formats::fp32.bits(),
          .gradient_bits = job.g.type().bits()};
}

struct NormRun {
  std::vector<std::uint32_t> codes;      // [channels of the job, elements]: y or dx
  std::vector<RangeBnSaved> saved;       // forward: one per channel of the job, inv as it was used
  std::vector<NormGradients> gradients;  // backward: dgamma and dbeta
  GemmCycles cycles;
};

}  // namespace mantissa
