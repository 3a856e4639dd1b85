// A compiled RTL unit as a SystemC module with the same ports as the SystemC unit: either can be plugged in
// the same place.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/dut/device.hpp"
#include "sim/units/unit_module.hpp"

namespace mantissa {

// A data port that a unit has.
struct PortShape {
  std::string name;
  int bits = 0;
};
// The data ports of a unit, in the order of a transaction.
struct UnitShape {
  std::vector<PortShape> inputs;
  std::vector<PortShape> outputs;
  bool back_pressure = true;  // false: no ready_i, a result must be taken in its cycle
};
UnitShape shape_of(const UnitModule& unit);

// How a device differs from the unit that it claims to be.
struct DeviceMap {
  // The unit's port -> the device's port. !NAME for rst_ni: a reset that is active high.
  std::map<std::string, std::string, std::less<>> names;
  // Cycles from operand to result of a device without valid_o; negative: it has one.
  int latency = -1;
};

class RtlModule : public UnitModule {
 public:
  // Throws std::invalid_argument that names a port that is missing or has another width, and lists what the
  // unit expects. Ports of `optional` may be missing; an output then stays zero.
  RtlModule(const sc_core::sc_module_name& name, Device& device, const UnitShape& shape,
            const DeviceMap& map = {}, const std::vector<std::string>& optional = {});

  bool has_output(std::string_view name) const;
  int latency() const { return latency_; }  // as DeviceMap's
  // It can wait with an output: without ready_i every output must be taken in its cycle.
  bool has_back_pressure() const { return ready_in_ != nullptr; }
  // The unit's outputs that the device does not have, and the device's inputs that the unit does not have:
  // they stay 0.
  std::vector<std::string> missing_outputs() const;
  std::vector<std::string> undriven_inputs() const;

  // From now on this device gets what the module's own gets and writes it into its open waveform: the same
  // RTL, compiled for waves, beside one that is not. nullptr: no longer.
  void mirror(Device* device) { mirror_ = device; }

  struct Transfers {
    bool taken = false;  // the device took the input
    bool given = false;  // it gave an output
  };
  // Past SystemC and without looking at data outputs, for what the RTL alone costs; outside of a simulation
  // only. What the data inputs hold, then one clock cycle.
  void bare_inputs(const std::vector<Bits>& values);
  Transfers bare_cycle(bool reset, bool valid, bool ready);

  std::vector<std::string> stages() const override { return {}; }
  void corrupt(std::string_view stage) override;

 private:
  struct InputBinding {
    DataIn* port;
    const Device::Pin* pin;  // nullptr: the device does not have it
  };
  struct OutputBinding {
    DataOut* port;
    const Device::Pin* pin;  // nullptr: the device does not have it
  };

  bool drives(const Device::Pin& pin) const;
  void settle();
  void settle_mirror();
  void before_end_of_elaboration() override;

  Device& device_;
  Device* mirror_ = nullptr;
  int latency_;
  std::vector<std::unique_ptr<DataIn>> input_ports_;
  std::vector<std::unique_ptr<DataOut>> output_ports_;
  std::vector<InputBinding> inputs_;
  std::vector<OutputBinding> outputs_;
  const Device::Pin* clk_ = nullptr;
  const Device::Pin* reset_ = nullptr;
  bool reset_active_high_ = false;
  const Device::Pin* valid_in_ = nullptr;
  const Device::Pin* ready_out_ = nullptr;
  const Device::Pin* valid_out_ = nullptr;
  const Device::Pin* ready_in_ = nullptr;
  std::vector<bool> in_flight_;  // transactions of a device with fixed latency, youngest first
};

}  // namespace mantissa
