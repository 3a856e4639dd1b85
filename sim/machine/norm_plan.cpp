#include "sim/machine/norm_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/format/packed.hpp"

namespace mantissa {

NormPlan::NormPlan(const Architecture& arch, const NormStreams& streams, NormDirection direction)
    : streams_(streams),
      backward_(direction == NormDirection::backward),
      lanes_(arch.norm_lanes),
      length_(norm_step_length(arch, streams, direction)),
      groups_((streams.channels + lanes_ - 1) / lanes_),
      segments_((streams.elements + length_ - 1) / length_),
      x_block_(packed_bytes(lanes_ * length_, streams.x_bits)),
      g_block_(backward_ ? packed_bytes(lanes_ * length_, streams.gradient_bits) : 0),
      result_block_(packed_bytes(lanes_ * length_, streams.result_bits)) {
  constexpr std::int64_t most = std::int64_t{1} << 36;
  if (blocks() > most / (x_block_ + g_block_ + result_block_)) {
    throw std::invalid_argument(
        "a batch norm of " + std::to_string(streams.channels) + " channels of " +
        std::to_string(streams.elements) +
        " elements is too large to be simulated cycle by cycle; take the fast engine");
  }
}

NormStep NormPlan::step(std::int64_t index) const {
  NormStep step;
  if (backward_) {
    step.group = index / (2 * segments_);
    step.second = index / segments_ % 2 == 1;
  } else {
    step.group = index / segments_ % groups_;
    step.second = index >= blocks();
  }
  const std::int64_t segment = index % segments_;
  step.first = segment * length_;
  step.length = std::min(length_, streams_.elements - step.first);
  step.lanes = std::min(lanes_, streams_.channels - step.group * lanes_);
  step.block = step.group * segments_ + segment;
  step.opens = segment == 0;
  step.closes = segment == segments_ - 1;
  return step;
}

}  // namespace mantissa
