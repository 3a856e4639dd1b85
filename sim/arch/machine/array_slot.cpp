#include "sim/arch/machine/array_slot.hpp"

namespace mantissa {

using sc_core::sc_signal;

ArraySlot::ArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                     const std::filesystem::path& rtl_directory) {
  // Everything that can fail comes before the first module: SystemC does not take one back.
  if (engine != Engine::systemc)
    device_ = std::make_unique<Device>(compile_array(arch, formats, rtl_directory).object);
  std::unique_ptr<ArrayUnit> systemc = make_systemc_array(arch, formats);
  find_outputs(*systemc);
  for (const DataIn* port : systemc->inputs()) {
    inputs_.push_back(
        std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("in"), Bits(port->width())));
  }
  if (device_) {
    const std::string name = array_name(formats) + "_rtl";
    rtl_ =
        std::make_unique<RtlModule>(sc_core::sc_gen_unique_name(name.c_str()), *device_, shape_of(*systemc));
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

void ArraySlot::find_outputs(const UnitModule& unit) {
  constexpr const char* names[] = {"tap_o",        "c_o",         "flags_o",   "last_o",
                                   "suppressed_o", "zero_seed_o", "overflow_o"};
  for (int output = 0; output < output_count; ++output) {
    place_[output] = -1;
    for (std::size_t i = 0; i < unit.outputs().size(); ++i) {
      if (std::string_view(unit.outputs()[i]->basename()) == names[output])
        place_[output] = static_cast<int>(i);
    }
  }
}

void ArraySlot::connect(UnitModule& unit) {
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
    for (int port = 0; port < output_count; ++port) {
      const int place = place_[port];
      if (place < 0 || expected.data[place]->read() == actual.data[place]->read()) continue;
      what = std::string(driver_->outputs()[place]->basename()) + " is wrong";
      // Without a tap what drains are the sums themselves.
      if (port == tap || (port == c && place_[tap] < 0)) {
        stage = "accumulate";
      } else if (port == c || port == flags) {
        stage = "bias or quantize";
      }
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

}  // namespace mantissa
