// The units of the second machine, which share its clock: the address generators, the array, what stands
// behind its drain, and before buffer A an unpacker, whose own clock is faster.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/line_unpacker.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/machine/lowering_slots.hpp"
#include "sim/machine/statistics_lanes.hpp"

namespace mantissa {

class BlockUnits {
 public:
  // Inside of a module's constructor, as UnitSlot. Throws what compiling RTL throws.
  BlockUnits(const Architecture& arch, const ArrayFormats& formats, const AcceleratorOptions& options)
      : BlockUnits(arch, formats, options, load_lowering(arch, options.engine, options.rtl_directory)) {}

  BlockArraySlot& array() { return array_; }
  LoweringSlots& lowering() { return lowering_; }
  UnitLanes& statistics() { return statistics_; }
  LineUnpacker* unpacker() { return unpacker_.get(); }  // nullptr: no line is packed

  void clock(bool level) {
    lowering_.clock(level);
    array_.clock(level);
    statistics_.clock(level);
  }
  void reset(bool active);
  void offer(bool valid) {
    lowering_.offer(valid);
    array_.offer(valid);
    statistics_.offer(valid);
  }
  void take(bool ready) {
    lowering_.take(ready);
    array_.take(ready);
    statistics_.take(ready);
  }
  // The first unit in which SystemC and RTL differ.
  std::optional<Mismatch> compare();
  // Of the last difference.
  std::string different() const;
  // That unit's RTL with a waveform.
  std::unique_ptr<UnitRecording> record(const std::filesystem::path& rtl_directory,
                                        const std::filesystem::path& wave);

 private:
  enum class Unit : std::uint8_t { unpacker, addresses, array, statistics };

  // What can fail comes before the first module, as SystemC does not take one back: these devices, and what
  // the array compiles.
  BlockUnits(const Architecture& arch, const ArrayFormats& formats, const AcceleratorOptions& options,
             LoweringDevices devices);

  Architecture arch_;
  ArrayFormats formats_;
  BlockArraySlot array_;
  LoweringSlots lowering_;
  StatisticsSize statistics_size_;
  UnitLanes statistics_;
  std::unique_ptr<LineUnpacker> unpacker_;
  Unit differs_ = Unit::array;
};

}  // namespace mantissa
