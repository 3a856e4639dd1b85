// The units of the second machine, which share its clock: the address generators and the array.
#pragma once

#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/lowering_slots.hpp"

namespace mantissa {

class BlockUnits {
 public:
  // Inside of a module's constructor, as UnitSlot. Throws what compiling RTL throws.
  BlockUnits(const Architecture& arch, const ArrayFormats& formats, Engine engine,
             const std::filesystem::path& rtl_directory)
      : BlockUnits(arch, formats, engine, rtl_directory, load_lowering(arch, engine, rtl_directory)) {}

  BlockArraySlot& array() { return array_; }
  LoweringSlots& lowering() { return lowering_; }

  void clock(bool level) {
    lowering_.clock(level);
    array_.clock(level);
  }
  void reset(bool active) {
    lowering_.reset(active);
    array_.reset(active);
  }
  void offer(bool valid) {
    lowering_.offer(valid);
    array_.offer(valid);
  }
  void take(bool ready) {
    lowering_.take(ready);
    array_.take(ready);
  }
  // The first unit in which SystemC and RTL differ.
  std::optional<Mismatch> compare();
  // Of the last difference.
  const char* different() const { return addresses_differ_ ? "lowering_unit" : "block_array"; }
  // That unit's RTL with a waveform.
  std::unique_ptr<UnitRecording> record(const std::filesystem::path& rtl_directory,
                                        const std::filesystem::path& wave);

 private:
  // What can fail comes before the first module, as SystemC does not take one back: these devices, and what
  // the array compiles.
  BlockUnits(const Architecture& arch, const ArrayFormats& formats, Engine engine,
             const std::filesystem::path& rtl_directory, LoweringDevices devices)
      : arch_(arch),
        formats_(formats),
        array_(arch, formats, engine, rtl_directory),
        lowering_(arch, engine, std::move(devices)) {}

  Architecture arch_;
  ArrayFormats formats_;
  BlockArraySlot array_;
  LoweringSlots lowering_;
  bool addresses_differ_ = false;
};

}  // namespace mantissa
