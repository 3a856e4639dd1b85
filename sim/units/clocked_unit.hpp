// A unit with state of its own: what it shows is a function of state and inputs, and the state moves at the
// clock edge.
#pragma once

#include <cstdint>

#include "sim/units/unit_module.hpp"

namespace mantissa {

class ClockedUnit : public UnitModule {
 public:
  void corrupt(std::string_view stage) override { corrupt_ = stage; }

 protected:
  // What the outputs follow within a cycle, besides the state.
  enum class Follows : std::uint8_t { nothing, ready, all_inputs };

  explicit ClockedUnit(const sc_core::sc_module_name& name, Follows follows = Follows::all_inputs)
      : UnitModule(name), follows_(follows) {}

  bool corrupted(std::string_view stage) const { return corrupt_ == stage; }

  // Everything combinational: outputs and handshake.
  virtual void evaluate() = 0;
  virtual void advance() = 0;
  virtual void reset() = 0;

  // Here and not in the constructor: the ports of the derived class exist only now, and a unit that is made
  // only to be asked for its ports leaves no process behind.
  void before_end_of_elaboration() override {
    SC_HAS_PROCESS(ClockedUnit);
    SC_METHOD(edge);
    sensitive << clk_i.pos() << rst_ni.neg();
    dont_initialize();
    SC_METHOD(evaluate);
    sensitive << moved_;
    if (follows_ != Follows::nothing) sensitive << ready_i;
    if (follows_ != Follows::all_inputs) return;
    sensitive << valid_i;
    for (DataIn* port : inputs()) sensitive << *port;
  }

 private:
  void edge() {
    if (rst_ni.read()) {
      advance();
    } else {
      reset();
    }
    moved_.notify(sc_core::SC_ZERO_TIME);
  }

  Follows follows_;
  std::string corrupt_;
  sc_core::sc_event moved_;
};

}  // namespace mantissa
