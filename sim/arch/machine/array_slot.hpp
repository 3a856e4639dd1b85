// The place of the array in the accelerator: mac_array or int_array in SystemC, or the compiled RTL, or both
// side by side with every output compared.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/arch/engine.hpp"
#include "sim/arch/machine/rtl_array.hpp"
#include "sim/units/mismatch.hpp"
#include "sim/units/rtl_module.hpp"

namespace mantissa {

class ArraySlot {
 public:
  // The ports of mac_array, in order; int_array has those up to drain.
  enum Input { a, b, count, used, skip, last, drain, bias, scale, load, seed };
  // The ports of both, in the order in which they are compared: sums come before what is made of them.
  enum Output { tap, c, flags, row_last, suppressed, zero_seed, overflow, output_count };

  // Inside of a module's constructor: the signals and units become its children. Throws what compile_array
  // throws.
  ArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
            const std::filesystem::path& rtl_directory);

  // The inputs of the next half cycle; data signals that are not written stay.
  void clock(bool level) { clk_.write(level); }
  void reset(bool active) { rst_n_.write(!active); }
  void offer(bool valid) { valid_.write(valid); }
  void take(bool ready) { ready_.write(ready); }
  void write(Input port, const Bits& value) { inputs_[port]->write(value); }
  int width(Input port) const { return driver_->inputs()[port]->width(); }

  // The outputs as they have settled.
  bool ready() const { return stations_[0].ready->read(); }
  bool valid() const { return stations_[0].valid->read(); }
  const Bits& output(Output port) const { return stations_[0].data[place_[port]]->read(); }

  // Both arrays, in this cycle. Nothing where there is one, or where they agree.
  std::optional<Mismatch> compare() const;

  // For who watches the array at work; nullptr: it is RTL and shows its ports only.
  const ArrayUnit* systemc() const { return systemc_.get(); }
  // Goes along with the RTL into an open waveform.
  void mirror(Device* device) { rtl_->mirror(device); }

 private:
  // A unit with the signals on its outputs.
  struct Station {
    std::unique_ptr<sc_core::sc_signal<bool>> ready;
    std::unique_ptr<sc_core::sc_signal<bool>> valid;
    std::vector<std::unique_ptr<sc_core::sc_signal<Bits>>> data;
  };
  void connect(UnitModule& unit);
  void find_outputs(const UnitModule& unit);

  std::unique_ptr<ArrayUnit> systemc_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<RtlModule> rtl_;
  UnitModule* driver_ = nullptr;   // whose outputs the accelerator gets
  std::vector<Station> stations_;  // the driver first
  sc_core::sc_signal<bool> clk_{"clk"};
  sc_core::sc_signal<bool> rst_n_{"rst_n"};
  sc_core::sc_signal<bool> valid_{"valid"};
  sc_core::sc_signal<bool> ready_{"ready"};
  std::vector<std::unique_ptr<sc_core::sc_signal<Bits>>> inputs_;
  std::array<int, output_count> place_{};  // of an output among the unit's; negative: it has none
};

}  // namespace mantissa
