// The units of the second machine, which share its clock: the address generators, the array, and before
// buffer A an unpacker, whose own clock is faster.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/line_unpacker.hpp"
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
  LineUnpacker* unpacker() { return unpacker_.get(); }  // nullptr: no line is packed

  void clock(bool level) {
    lowering_.clock(level);
    array_.clock(level);
  }
  void reset(bool active);
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
  std::string different() const;
  // That unit's RTL with a waveform.
  std::unique_ptr<UnitRecording> record(const std::filesystem::path& rtl_directory,
                                        const std::filesystem::path& wave);

 private:
  enum class Unit : std::uint8_t { unpacker, addresses, array };

  // What can fail comes before the first module, as SystemC does not take one back: these devices, and what
  // the array compiles.
  BlockUnits(const Architecture& arch, const ArrayFormats& formats, Engine engine,
             const std::filesystem::path& rtl_directory, LoweringDevices devices);

  Architecture arch_;
  ArrayFormats formats_;
  BlockArraySlot array_;
  LoweringSlots lowering_;
  std::unique_ptr<LineUnpacker> unpacker_;
  Unit differs_ = Unit::array;
};

}  // namespace mantissa
