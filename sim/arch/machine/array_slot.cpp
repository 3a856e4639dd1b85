#include "sim/arch/machine/array_slot.hpp"

namespace mantissa {

using sc_core::sc_signal;

ArraySlot::ArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                     const std::filesystem::path& rtl_directory) {
  // Everything that can fail comes before the first module: SystemC does not take one back.
  if (engine != Engine::systemc)
    device_ = std::make_unique<Device>(compile_array(arch, formats, rtl_directory).object);
  auto systemc = std::make_unique<MacArrayUnit>(sc_core::sc_gen_unique_name("mac_array"),
                                                array_parameters(arch, formats), array_options(arch));
  for (int i = 0; i < input_count; ++i) {
    inputs_[i] = std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("in"),
                                                   Bits(systemc->inputs()[i]->width()));
  }
  if (device_) {
    rtl_ = std::make_unique<RtlModule>(sc_core::sc_gen_unique_name("mac_array_rtl"), *device_,
                                       shape_of(*systemc));
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

void ArraySlot::connect(UnitModule& unit) {
  unit.clk_i.bind(clk_);
  unit.rst_ni.bind(rst_n_);
  unit.valid_i.bind(valid_);
  unit.ready_i.bind(ready_);
  for (int i = 0; i < input_count; ++i) unit.inputs()[i]->bind(*inputs_[i]);
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

std::optional<Mismatch> ArraySlot::compare() const {
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
    // The accumulators come before what is made of them.
    for (const Output port : {tap, c, flags, row_last, suppressed, zero_seed}) {
      if (expected.data[port]->read() == actual.data[port]->read()) continue;
      what = std::string(driver_->outputs()[port]->basename()) + " is wrong";
      if (port == tap) stage = "accumulate";
      if (port == c || port == flags) stage = "bias or quantize";
      break;
    }
  }
  if (what.empty()) return std::nullopt;

  Mismatch mismatch;
  mismatch.what = what;
  mismatch.stage = stage;
  mismatch.model = "rtl";
  const auto bit = [](const sc_signal<bool>& signal) { return signal.read() ? "1" : "0"; };
  mismatch.inputs = {{"valid_i", "", bit(valid_)}, {"ready_i", "", bit(ready_)}};
  for (int i = 0; i < input_count; ++i)
    mismatch.inputs.push_back({driver_->inputs()[i]->basename(), "", inputs_[i]->read().hex()});
  mismatch.outputs = {{"ready_o", bit(*expected.ready), bit(*actual.ready)},
                      {"valid_o", bit(*expected.valid), bit(*actual.valid)}};
  if (expected.valid->read() && actual.valid->read()) {
    for (int i = 0; i < output_count; ++i) {
      mismatch.outputs.push_back(
          {driver_->outputs()[i]->basename(), expected.data[i]->read().hex(), actual.data[i]->read().hex()});
    }
  }
  return mismatch;
}

}  // namespace mantissa
