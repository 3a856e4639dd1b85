// What every SystemC unit is: a module with the ports of the RTL unit of the same name. The handshake is the
// same for all; data ports register themselves, so that a bench can drive any unit, and a Verilated one can
// stand in the same place (rtl_module.hpp).
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "models/format/convert.hpp"
#include "sim/dut/bits.hpp"

namespace mantissa {

// For waveforms: a signal keeps its width, so its words stay where they are.
inline void sc_trace(sc_core::sc_trace_file* file, const Bits& bits, const std::string& name) {
  int left = bits.width();
  for (std::size_t i = 0; i < bits.words().size(); ++i, left -= 32) {
    const std::string part = bits.words().size() == 1 ? name : name + "_" + std::to_string(i);
    sc_core::sc_trace(file, bits.words()[i], part, left < 32 ? left : 32);
  }
}

class UnitModule;

class DataIn : public sc_core::sc_in<Bits> {
 public:
  DataIn(UnitModule& owner, const char* name, int width);
  int width() const { return width_; }
  std::uint64_t value() const { return read().value(); }
  int signed_byte() const { return static_cast<int>(value() ^ 0x80) - 0x80; }  // of a port of 8 bits
  std::uint32_t code() const { return static_cast<std::uint32_t>(value()); }
  float number() const { return fp32_value(code()); }  // of an FP32 port

 private:
  int width_;
};

class DataOut : public sc_core::sc_out<Bits> {
 public:
  DataOut(UnitModule& owner, const char* name, int width);
  int width() const { return width_; }
  void put(std::uint64_t value) { write(Bits(width_, value)); }

 private:
  int width_;
};

class UnitModule : public sc_core::sc_module {
 public:
  sc_core::sc_in<bool> clk_i{"clk_i"};
  sc_core::sc_in<bool> rst_ni{"rst_ni"};
  sc_core::sc_in<bool> valid_i{"valid_i"};
  sc_core::sc_out<bool> ready_o{"ready_o"};
  sc_core::sc_out<bool> valid_o{"valid_o"};
  sc_core::sc_in<bool> ready_i{"ready_i"};

  // In the order of declaration, which is that of a transaction.
  std::span<DataIn* const> inputs() const { return inputs_; }
  std::span<DataOut* const> outputs() const { return outputs_; }

  // All ports into a waveform, under their names in the hierarchy. Before the simulation starts, once bound.
  void trace(sc_core::sc_trace_file* file) const override {
    for (const auto* port : {&clk_i, &rst_ni, &valid_i, &ready_i})
      sc_core::sc_trace(file, *port, port->name());
    for (const auto* port : {&ready_o, &valid_o}) sc_core::sc_trace(file, *port, port->name());
    for (const DataIn* port : inputs_) sc_trace(file, port->read(), port->name());
    for (const DataOut* port : outputs_) sc_trace(file, port->read(), port->name());
  }

  // From now on one bit of what this stage computes is wrong: a test that still passes tests nothing.
  virtual std::vector<std::string> stages() const = 0;
  virtual void corrupt(std::string_view stage) = 0;

 protected:
  explicit UnitModule(const sc_core::sc_module_name& name) : sc_module(name) {}

 private:
  friend DataIn;
  friend DataOut;
  std::vector<DataIn*> inputs_;
  std::vector<DataOut*> outputs_;
};

inline DataIn::DataIn(UnitModule& owner, const char* name, int width) : sc_in<Bits>(name), width_(width) {
  owner.inputs_.push_back(this);
}
inline DataOut::DataOut(UnitModule& owner, const char* name, int width) : sc_out<Bits>(name), width_(width) {
  owner.outputs_.push_back(this);
}

}  // namespace mantissa
