// The batch norm units of the accelerator: one range_bn_forward and one range_bn_backward per lane.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "sim/machine/norm_job.hpp"
#include "sim/machine/unit_lanes.hpp"

namespace mantissa {

// The ports of range_bn_forward and range_bn_backward, in order.
struct NormForwardPorts {
  enum Input {
    x,
    mode,
    count,
    chunk_length,
    reciprocal_count,
    reciprocal_chunks,
    constant,
    gamma,
    beta,
    mean,
    inv
  };
  enum Output { kind, first, second, last };
};
struct NormBackwardPorts {
  enum Input {
    x,
    g,
    argmax,
    argmin,
    count,
    reciprocal_count,
    reciprocal_chunks,
    constant,
    gamma,
    mean,
    inv,
    given,
    mean_h,
    shift
  };
  enum Output { gradients, first, second, last };
};

// Throws what compiling RTL throws.
UnitLanes::Kind norm_unit_kind(NormDirection direction, int index_bits, Engine engine,
                               const std::filesystem::path& rtl_directory);

class NormUnits {
 public:
  // Inside of a module's constructor, as UnitSlot. Throws what compiling RTL throws.
  NormUnits(const Architecture& arch, const NormSize& size, Engine engine,
            const std::filesystem::path& rtl_directory);

  std::int64_t lanes() const { return forward_.count(); }
  int index_bits() const { return index_bits_; }

  // The units of one direction and of the first lanes: what is below is theirs. The others stand still.
  void select(NormDirection direction, std::int64_t lanes);
  UnitSlot& lane(std::int64_t index) { return selected_->lane(index); }
  void clock(bool level) { selected_->clock(level); }
  void reset(bool active) { selected_->reset(active); }
  void offer(bool valid) { selected_->offer(valid); }
  void take(bool ready) { selected_->take(ready); }
  // The first lane in which SystemC and RTL differ.
  std::optional<Mismatch> compare();
  // Of the last difference.
  std::int64_t different_lane() const { return selected_->different_lane(); }

 private:
  NormUnits(std::int64_t lanes, int index_bits, Engine engine, UnitLanes::Kind forward,
            UnitLanes::Kind backward);
  std::string stage(const UnitSlot& slot) const;

  int index_bits_;
  UnitLanes forward_;
  UnitLanes backward_;
  NormDirection direction_ = NormDirection::forward;
  UnitLanes* selected_ = &forward_;
};

}  // namespace mantissa
