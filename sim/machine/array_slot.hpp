// The place of the array in the accelerator: mac_array or int_array.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine/rtl_array.hpp"
#include "sim/machine/unit_slot.hpp"

namespace mantissa {

class ArraySlot {
 public:
  // The ports of mac_array, in order; int_array has those up to drain.
  enum Input { a, b, count, used, skip, last, drain, bias, scale, load, seed };
  // The ports of both, in the order in which they are compared: sums come before what is made of them.
  enum Output { tap, c, flags, row_last, suppressed, zero_seed, overflow, output_count };

  // Inside of a module's constructor, as UnitSlot. Throws what compile_array throws.
  ArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
            const std::filesystem::path& rtl_directory);

  void clock(bool level) { slot_.clock(level); }
  void reset(bool active) { slot_.reset(active); }
  void offer(bool valid) { slot_.offer(valid); }
  void take(bool ready) { slot_.take(ready); }
  void write(Input port, const Bits& value) { slot_.write(port, value); }
  int width(Input port) const { return slot_.width(port); }

  bool ready() const { return slot_.ready(); }
  bool valid() const { return slot_.valid(); }
  const Bits& output(Output port) const { return slot_.output(place_[port]); }
  std::optional<Mismatch> compare() const { return slot_.compare(watched_); }

  // For who watches the array at work; nullptr: it is RTL and shows its ports only.
  const ArrayUnit* systemc() const { return systemc_; }
  UnitSlot& slot() { return slot_; }

 private:
  ArraySlot(Engine engine, const std::string& name, std::unique_ptr<Device> device,
            std::unique_ptr<ArrayUnit> unit);

  const ArrayUnit* systemc_;
  UnitSlot slot_;
  std::array<int, output_count> place_{};  // of an output among the unit's; negative: it has none
  std::vector<UnitSlot::Watched> watched_;
};

}  // namespace mantissa
