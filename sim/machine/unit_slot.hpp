// The place of a unit in a machine: the SystemC unit, or the compiled RTL, or both side by side with every
// output compared in every cycle.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machine/engine.hpp"
#include "sim/units/mismatch.hpp"
#include "sim/units/rtl_module.hpp"

namespace mantissa {

class UnitSlot {
 public:
  // An output that is compared, and what is wrong in the unit if it is the first one to differ.
  struct Watched {
    int output = 0;
    std::string stage = {};
  };

  // Inside of a module's constructor: the signals and units become its children. `device` is the RTL and
  // goes with the engines that have one. The SystemC unit is there in any case: it knows the ports. The RTL
  // has no ready_i without `back_pressure`.
  UnitSlot(Engine engine, const std::string& name, std::unique_ptr<Device> device,
           std::unique_ptr<UnitModule> systemc, bool back_pressure = true);

  // The inputs of the next half cycle; data signals that are not written stay.
  void clock(bool level) { clk_.write(level); }
  void reset(bool active) { rst_n_.write(!active); }
  void offer(bool valid) { valid_.write(valid); }
  void take(bool ready) { ready_.write(ready); }
  void write(int input, const Bits& value) { inputs_[input]->write(value); }
  int width(int input) const { return driver_->inputs()[input]->width(); }

  // The outputs as they have settled.
  bool ready() const { return stations_[0].ready->read(); }
  bool valid() const { return stations_[0].valid->read(); }
  const Bits& output(int index) const { return stations_[0].data[index]->read(); }
  // Of a port with this name; negative: the unit has none.
  int find_output(std::string_view name) const;

  // Both units, in this cycle: handshakes, then outputs in the given order. Nothing where there is one unit,
  // or where they agree.
  std::optional<Mismatch> compare(std::span<const Watched> outputs) const;

 private:
  friend class UnitRecording;
  // A unit with the signals on its outputs.
  struct Station {
    std::unique_ptr<sc_core::sc_signal<bool>> ready;
    std::unique_ptr<sc_core::sc_signal<bool>> valid;
    std::vector<std::unique_ptr<sc_core::sc_signal<Bits>>> data;
  };
  void connect(UnitModule& unit);
  Mismatch describe_inputs_and_outputs() const;

  std::unique_ptr<UnitModule> systemc_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<RtlModule> rtl_;
  UnitModule* driver_ = nullptr;   // whose outputs the machine gets
  std::vector<Station> stations_;  // the driver first
  sc_core::sc_signal<bool> clk_{sc_core::sc_gen_unique_name("clk")};
  sc_core::sc_signal<bool> rst_n_{sc_core::sc_gen_unique_name("rst_n")};
  sc_core::sc_signal<bool> valid_{sc_core::sc_gen_unique_name("valid")};
  sc_core::sc_signal<bool> ready_{sc_core::sc_gen_unique_name("ready")};
  std::vector<std::unique_ptr<sc_core::sc_signal<Bits>>> inputs_;
};

// While it lives, a device that was compiled for waves goes along with the slot's RTL into a waveform.
class UnitRecording {
 public:
  UnitRecording(UnitSlot& slot, const CachedFilePointer& object, const std::filesystem::path& wave);
  ~UnitRecording();
  UnitRecording(const UnitRecording&) = delete;
  UnitRecording& operator=(const UnitRecording&) = delete;

 private:
  UnitSlot& slot_;
  Device device_;
};

}  // namespace mantissa
