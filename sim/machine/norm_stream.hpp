// The second pass of a fused Range BN on the second machine, cycle by cycle, with the statistics given
// (ARITHMETIC.md 8, "Fused"): a stream of x into y through units range_bn_forward, or of x and g into dx
// through units range_bn_backward.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "models/format/convert.hpp"
#include "models/norm/range_bn_tensor.hpp"
#include "models/random/stream.hpp"
#include "models/tensor/encoded_tensor.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/machine/lockstep.hpp"

namespace mantissa {

// Of a whole tensor or of its first images. Numbers are one per channel, and those of the whole tensor.
struct NormStreamJob {
  NormDirection direction = NormDirection::forward;
  NormShape shape;
  EncodedTensor x;
  EncodedTensor g = {};  // backward
  std::span<const float> gamma;
  std::span<const float> beta = {};                     // forward
  std::span<const RangeBnSaved> saved;                  // mean and inv; of backward inv and the indices
  std::span<const RangeBnCorrection> corrections = {};  // backward
  std::int64_t chunk_length = 0;                        // backward
  // The quantizer of the results; none: they stay FP32. Element i takes draw i / lanes of lane i mod lanes.
  std::optional<Conversion> drain = std::nullopt;
  DrawSource draws = {};
  bool statistics_taken = true;  // at a drain just before: they are there when the law says
  std::int64_t parts = 1;        // of the sums
};

// The job as the closed form sees it.
StreamJob stream_of(const Architecture& arch, const NormStreamJob& job);

struct NormStreamRun {
  std::vector<std::uint32_t> codes;  // y or dx, in the order of the tensor
  GemmCycles cycles;
};

// Made before the first accelerator runs, as all of them.
class NormStreamMachine {
 public:
  // With `norm_lanes` units for each direction. Throws std::invalid_argument for what cannot be built, and
  // what compiling RTL throws.
  explicit NormStreamMachine(const Architecture& arch, const AcceleratorOptions& options = {});
  ~NormStreamMachine();
  NormStreamMachine(const NormStreamMachine&) = delete;
  NormStreamMachine& operator=(const NormStreamMachine&) = delete;

  // Jobs run one after the other, each from reset. Throws std::invalid_argument for a job that does not fit,
  // LockstepError and UnitFailure.
  NormStreamRun run(const NormStreamJob& job);

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace mantissa
