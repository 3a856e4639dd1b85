// The place of the array in the second machine: block_array or int_block_array.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/arch/architecture.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/machine/block_run_watch.hpp"
#include "sim/machine/unit_slot.hpp"
#include "sim/units/operand_array.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The unit's name, in SystemC and as an RTL module.
std::string block_array_name(const ArrayFormats& formats);
UnitParameters block_array_parameters(const Architecture& arch, const ArrayFormats& formats);
// As compile_array.
CompiledDevice compile_block_array(const Architecture& arch, const ArrayFormats& formats,
                                   const std::filesystem::path& rtl_directory = {}, bool wave = false);

class BlockArraySlot {
 public:
  // The ports of both, in order; codes are suppressed, integers overflow.
  enum Input { a, b, count, used, skip, last, cols, swap, load, sum };
  enum Output { sums, row_last, suppressed, overflow, output_count };

  // Inside of a module's constructor, as UnitSlot. Throws what compile_block_array throws.
  BlockArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                 const std::filesystem::path& rtl_directory);

  void clock(bool level) { slot_.clock(level); }
  void reset(bool active) {
    slot_.reset(active);
    if (active) watch_.reset();
  }
  void offer(bool valid) { slot_.offer(valid); }
  void take(bool ready) { slot_.take(ready); }
  void write(Input port, const Bits& value) { slot_.write(port, value); }
  int width(Input port) const { return slot_.width(port); }

  bool ready() const { return slot_.ready(); }
  // Rows of sums are on the ports, out of the array and into it.
  bool exchanges() const { return slot_.valid(); }
  // A run has begun and not ended.
  bool computes() const { return systemc_ != nullptr ? systemc_->step_active() : watch_.computes(); }
  // Just before a clock edge: the beat that is taken with it, or none.
  void watch(const WatchedBeat* beat) {
    if (systemc_ == nullptr) watch_.advance(beat);
  }
  // For who watches the array at work; nullptr: it is RTL and shows its ports only.
  const OperandArray* systemc() const { return systemc_; }
  const Bits& output(Output port) const { return slot_.output(place_[port]); }
  std::optional<Mismatch> compare() const { return slot_.compare(watched_); }
  UnitSlot& slot() { return slot_; }

 private:
  BlockArraySlot(Engine engine, const std::string& name, const SkipWindow& array,
                 std::unique_ptr<Device> device, std::unique_ptr<OperandArray> unit);

  const OperandArray* systemc_;
  BlockRunWatch watch_;
  UnitSlot slot_;
  std::array<int, output_count> place_{};  // of an output among the unit's; negative: it has none
  std::vector<UnitSlot::Watched> watched_;
};

}  // namespace mantissa
