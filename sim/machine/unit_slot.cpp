#include "sim/machine/unit_slot.hpp"

namespace mantissa {

using sc_core::sc_signal;

UnitSlot::UnitSlot(Engine engine, const std::string& name, std::unique_ptr<Device> device,
                   std::unique_ptr<UnitModule> systemc, bool back_pressure)
    : device_(std::move(device)) {
  for (const DataIn* port : systemc->inputs()) {
    inputs_.push_back(
        std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("in"), Bits(port->width())));
  }
  if (device_) {
    UnitShape shape = shape_of(*systemc);
    shape.back_pressure = back_pressure;
    rtl_ = std::make_unique<RtlModule>(sc_core::sc_gen_unique_name((name + "_rtl").c_str()), *device_, shape);
  }
  if (engine != Engine::rtl) {
    driver_ = systemc.get();
    connect(*systemc);
    systemc_ = std::move(systemc);
  }
  if (rtl_) {
    if (driver_ == nullptr) driver_ = rtl_.get();
    connect(*rtl_);
  }
}

void UnitSlot::connect(UnitModule& unit) {
  unit.clk_i.bind(clk_);
  unit.rst_ni.bind(rst_n_);
  unit.valid_i.bind(valid_);
  unit.ready_i.bind(ready_);
  for (std::size_t i = 0; i < inputs_.size(); ++i) unit.inputs()[i]->bind(*inputs_[i]);
  Station& station = stations_.emplace_back();
  station.ready = std::make_unique<sc_signal<bool>>(sc_core::sc_gen_unique_name("ready"));
  station.valid = std::make_unique<sc_signal<bool>>(sc_core::sc_gen_unique_name("valid"));
  unit.ready_o.bind(*station.ready);
  unit.valid_o.bind(*station.valid);
  for (DataOut* port : unit.outputs()) {
    station.data.push_back(
        std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("out"), Bits(port->width())));
    port->bind(*station.data.back());
  }
}

int UnitSlot::find_output(std::string_view name) const {
  for (std::size_t i = 0; i < driver_->outputs().size(); ++i) {
    if (std::string_view(driver_->outputs()[i]->basename()) == name) return static_cast<int>(i);
  }
  return -1;
}

std::optional<Mismatch> UnitSlot::compare(std::span<const Watched> outputs) const {
  if (stations_.size() < 2) return std::nullopt;
  const Station& expected = stations_[0];
  const Station& actual = stations_[1];
  std::string what;
  std::string stage;
  if (expected.ready->read() != actual.ready->read()) {
    what = "ready_o of SystemC and RTL differ";
  } else if (expected.valid->read() != actual.valid->read()) {
    what = "valid_o of SystemC and RTL differ";
  } else if (expected.valid->read()) {
    for (const Watched& watched : outputs) {
      if (expected.data[watched.output]->read() == actual.data[watched.output]->read()) continue;
      what = std::string(driver_->outputs()[watched.output]->basename()) + " is wrong";
      stage = watched.stage;
      break;
    }
  }
  if (what.empty()) return std::nullopt;
  Mismatch mismatch = describe_inputs_and_outputs();
  mismatch.what = what;
  mismatch.stage = stage;
  return mismatch;
}

Mismatch UnitSlot::describe_inputs_and_outputs() const {
  const Station& expected = stations_[0];
  const Station& actual = stations_[1];
  Mismatch mismatch;
  mismatch.model = "rtl";
  const auto bit = [](const sc_signal<bool>& signal) { return signal.read() ? "1" : "0"; };
  mismatch.inputs = {{"valid_i", "", bit(valid_)}, {"ready_i", "", bit(ready_)}};
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    mismatch.inputs.push_back({driver_->inputs()[i]->basename(), "", inputs_[i]->read().hex()});
  mismatch.outputs = {{"ready_o", bit(*expected.ready), bit(*actual.ready)},
                      {"valid_o", bit(*expected.valid), bit(*actual.valid)}};
  if (expected.valid->read() && actual.valid->read()) {
    for (std::size_t i = 0; i < expected.data.size(); ++i) {
      mismatch.outputs.push_back(
          {driver_->outputs()[i]->basename(), expected.data[i]->read().hex(), actual.data[i]->read().hex()});
    }
  }
  return mismatch;
}

UnitRecording::UnitRecording(UnitSlot& slot, const CachedFilePointer& object,
                             const std::filesystem::path& wave)
    : slot_(slot), device_(object) {
  device_.open_wave(wave);
  slot_.rtl_->mirror(&device_);
}

UnitRecording::~UnitRecording() {
  slot_.rtl_->mirror(nullptr);
  device_.close_wave();
}

}  // namespace mantissa
