#include "sim/units/rtl_module.hpp"

#include <algorithm>

namespace mantissa {
namespace {

std::string expectation(const UnitShape& shape, bool handshake) {
  std::string text = "; the unit expects clk_i[1] rst_ni[1] valid_i[1]";
  if (handshake) text += " ready_o[1] valid_o[1]";
  if (handshake && shape.back_pressure) text += " ready_i[1]";
  const auto list = [&](const char* direction, const std::vector<PortShape>& ports) {
    text += direction;
    for (const PortShape& port : ports) text += " " + port.name + "[" + std::to_string(port.bits) + "]";
  };
  list(", inputs", shape.inputs);
  list(", outputs", shape.outputs);
  return text;
}

void drive(const Device::Pin* pin, bool value) {
  if (pin != nullptr) *static_cast<std::uint8_t*>(pin->storage) = value ? 1 : 0;
}

bool sample(const Device::Pin* pin) { return *static_cast<const std::uint8_t*>(pin->storage) != 0; }

// Looks the unit's ports up among the device's, under the names that the user gave.
class PortFinder {
 public:
  PortFinder(const Device& device, const UnitShape& shape, const DeviceMap& map)
      : device_(device), map_(map), expected_(expectation(shape, map.latency < 0)) {}

  const Device::Pin* required(const std::string& port, int bits, bool output) const {
    const Device::Pin* pin = optional(port, bits, output);
    if (pin == nullptr) fail("the device has no port " + described(port));
    return pin;
  }

  // A port that the user has given a name must be there.
  const Device::Pin* optional(const std::string& port, int bits, bool output) const {
    const Device::Pin* pin = device_.find(device_name(port));
    if (pin == nullptr) {
      if (map_.names.contains(port)) fail("the device has no port " + described(port));
      return nullptr;
    }
    if (pin->output != output) fail("port " + described(port) + " is an " + (output ? "input" : "output"));
    if (pin->bits != bits) {
      fail("port " + described(port) + " has " + std::to_string(pin->bits) + " bits, not " +
           std::to_string(bits));
    }
    return pin;
  }

  [[noreturn]] void fail(const std::string& what) const {
    std::string has = "; the device has";
    for (const Device::Pin& pin : device_.pins())
      has += " " + pin.name + "[" + std::to_string(pin.bits) + "]";
    throw std::invalid_argument(what + expected_ + has);
  }

  // --latency says that the device has no such port.
  void must_not_be_mapped(const std::string& port) const {
    const auto found = map_.names.find(port);
    if (found == map_.names.end()) return;
    fail(port + " (mapped to " + found->second + ") is of no use with a fixed latency; use --latency valid");
  }

  bool inverted(const std::string& port) const {
    const auto found = map_.names.find(port);
    return found != map_.names.end() && found->second.rfind('!', 0) == 0;
  }

  // Names that the user gave to ports that the unit does not have are typing errors.
  void check_names(const std::vector<std::string>& known) const {
    for (const auto& [port, name] : map_.names) {
      if (std::find(known.begin(), known.end(), port) != known.end()) continue;
      std::string message = "the unit has no port ";
      fail(message.append(port).append(" (mapped to ").append(name).append(")"));
    }
  }

 private:
  std::string device_name(const std::string& port) const {
    const auto found = map_.names.find(port);
    if (found == map_.names.end()) return port;
    return port == "rst_ni" && inverted(port) ? found->second.substr(1) : found->second;
  }
  std::string described(const std::string& port) const {
    const std::string name = device_name(port);
    return name == port ? port : name + " (mapped from " + port + ")";
  }

  const Device& device_;
  const DeviceMap& map_;
  std::string expected_;
};

}  // namespace

UnitShape shape_of(const UnitModule& unit) {
  UnitShape shape;
  for (const DataIn* port : unit.inputs()) shape.inputs.push_back({port->basename(), port->width()});
  for (const DataOut* port : unit.outputs()) shape.outputs.push_back({port->basename(), port->width()});
  return shape;
}

namespace {

std::vector<std::string> names_of(const UnitShape& shape) {
  std::vector<std::string> names = {"clk_i", "rst_ni", "valid_i", "ready_o", "valid_o", "ready_i"};
  for (const PortShape& port : shape.inputs) names.push_back(port.name);
  for (const PortShape& port : shape.outputs) names.push_back(port.name);
  return names;
}

}  // namespace

RtlModule::RtlModule(const sc_core::sc_module_name& name, Device& device, const UnitShape& shape,
                     const DeviceMap& map, const std::vector<std::string>& optional)
    : UnitModule(name), device_(device), latency_(map.latency), in_flight_(std::max(map.latency, 0)) {
  const PortFinder find(device, shape, map);
  find.check_names(names_of(shape));
  clk_ = find.optional("clk_i", 1, false);
  reset_ = find.optional("rst_ni", 1, false);
  reset_active_high_ = find.inverted("rst_ni");
  const auto pin_of = [&](const PortShape& port, bool output) {
    const bool may_miss = std::find(optional.begin(), optional.end(), port.name) != optional.end();
    return may_miss ? find.optional(port.name, port.bits, output)
                    : find.required(port.name, port.bits, output);
  };
  if (latency_ < 0) {
    valid_in_ = find.required("valid_i", 1, false);
    valid_out_ = find.required("valid_o", 1, true);
    ready_out_ = pin_of({"ready_o", 1}, true);
    if (shape.back_pressure) ready_in_ = pin_of({"ready_i", 1}, false);
  } else {
    valid_in_ = find.optional("valid_i", 1, false);  // an enable
    for (const char* port : {"valid_o", "ready_o", "ready_i"}) find.must_not_be_mapped(port);
  }
  if (clk_ == nullptr && latency_ != 0) find.required("clk_i", 1, false);
  for (const PortShape& port : shape.inputs) {
    input_ports_.push_back(std::make_unique<DataIn>(*this, port.name.c_str(), port.bits));
    inputs_.push_back({input_ports_.back().get(), pin_of(port, false)});
  }
  for (const PortShape& port : shape.outputs) {
    output_ports_.push_back(std::make_unique<DataOut>(*this, port.name.c_str(), port.bits));
    outputs_.push_back({output_ports_.back().get(), pin_of(port, true)});
  }
  for (const Device::Pin& pin : device.pins()) {
    if (!pin.output && !drives(pin)) pin.set(Bits(pin.bits));
  }
  for (const InputBinding& input : inputs_) {
    const auto users = std::count_if(inputs_.begin(), inputs_.end(),
                                     [&input](const InputBinding& other) { return other.pin == input.pin; });
    if (input.pin != nullptr && users > 1)
      find.fail("port " + input.pin->name + " of the device is mapped to more than one port of the unit");
  }
}

void RtlModule::before_end_of_elaboration() {
  SC_HAS_PROCESS(RtlModule);
  SC_METHOD(settle);
  sensitive << clk_i << rst_ni << valid_i << ready_i;
  for (DataIn* port : inputs()) sensitive << *port;
}

bool RtlModule::has_output(std::string_view name) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [name](const OutputBinding& output) {
    return output.pin != nullptr && output.port->basename() == name;
  });
}

std::vector<std::string> RtlModule::missing_outputs() const {
  std::vector<std::string> names;
  for (const OutputBinding& output : outputs_) {
    if (output.pin == nullptr) names.emplace_back(output.port->basename());
  }
  return names;
}

bool RtlModule::drives(const Device::Pin& pin) const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [&pin](const InputBinding& input) { return input.pin == &pin; }) ||
         &pin == clk_ || &pin == reset_ || &pin == valid_in_ || &pin == ready_in_;
}

std::vector<std::string> RtlModule::undriven_inputs() const {
  std::vector<std::string> names;
  for (const Device::Pin& pin : device_.pins()) {
    if (!pin.output && !drives(pin)) names.push_back(pin.name);
  }
  return names;
}

void RtlModule::bare_inputs(const std::vector<Bits>& values) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].pin != nullptr) inputs_[i].pin->set(values[i]);
  }
}

RtlModule::Transfers RtlModule::bare_cycle(bool reset, bool valid, bool ready) {
  drive(clk_, false);
  drive(reset_, reset == reset_active_high_);
  drive(valid_in_, valid);
  drive(ready_in_, ready);
  device_.eval();
  const Transfers transfers{valid && (ready_out_ == nullptr || sample(ready_out_)),
                            ready && valid_out_ != nullptr && sample(valid_out_)};
  drive(clk_, true);
  device_.eval();
  return transfers;
}

void RtlModule::corrupt(std::string_view /*stage*/) {
  throw std::logic_error("RTL is corrupted by changing its sources");
}

void RtlModule::settle_mirror() {
  for (const Device::Pin& pin : device_.pins()) {
    const Device::Pin* same = pin.output ? nullptr : mirror_->find(pin.name);
    if (same != nullptr) same->set(pin.get());
  }
  mirror_->eval();
  mirror_->dump_wave(
      static_cast<std::uint64_t>(sc_core::sc_time_stamp() / sc_core::sc_time(1, sc_core::SC_PS)));
}

void RtlModule::settle() {
  if (latency_ > 0 && clk_i.posedge()) {
    // The device has no valid: this side remembers in which cycles a result is one.
    in_flight_.insert(in_flight_.begin(), valid_i.read());
    in_flight_.pop_back();
  }
  if (!rst_ni.read()) in_flight_.assign(in_flight_.size(), false);
  drive(clk_, clk_i.read());
  drive(reset_, rst_ni.read() != reset_active_high_);
  drive(valid_in_, valid_i.read());
  drive(ready_in_, ready_i.read());
  for (const InputBinding& input : inputs_) {
    if (input.pin != nullptr) input.pin->set(input.port->read());
  }
  device_.eval();
  if (mirror_ != nullptr) settle_mirror();
  ready_o.write(ready_out_ == nullptr || sample(ready_out_));
  if (valid_out_ != nullptr) {
    valid_o.write(sample(valid_out_));
  } else {
    valid_o.write(latency_ == 0 ? valid_i.read() : in_flight_.back());
  }
  for (const OutputBinding& output : outputs_) {
    output.port->write(output.pin == nullptr ? Bits(output.port->width()) : output.pin->get());
  }
}

}  // namespace mantissa

// SystemC's library asks for it; every program here has a main of its own, and nothing calls this one.
int sc_main(int /*argc*/, char* /*argv*/[]) { return 1; }
