// lowering_unit in SystemC: the golden unit, whose beats stand on the outputs.
#include "models/mac/lowering_unit.hpp"

#include "sim/units/clocked_unit.hpp"
#include "sim/units/lowering_ports.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

class LoweringUnitModule : public ClockedUnit {
 public:
  LoweringUnitModule(const sc_core::sc_module_name& name, const LoweringPorts& ports)
      : ClockedUnit(name, Follows::ready), ports_(ports), unit_(ports.size) {}

  std::vector<std::string> stages() const override { return {"beat", "line", "element", "padding"}; }

 private:
  bool ends_run() const { return unit_.last() && ready_i.read(); }

  void evaluate() override {
    valid_o.write(unit_.in_run());
    ready_o.write(!unit_.in_run() || ends_run());
    if (!unit_.in_run() || shown_) return;
    shown_ = true;
    std::vector<Bits> bits = ports_.outputs(unit_);
    if (corrupted("beat")) bits[LoweringPorts::last].flip(0);
    if (corrupted("padding")) bits[LoweringPorts::read].flip(0);
    if (corrupted("line")) bits[LoweringPorts::line_out].flip(0);
    if (corrupted("element")) bits[LoweringPorts::element_out].flip(0);
    for (std::size_t port = 0; port < bits.size(); ++port) outputs()[port]->write(bits[port]);
  }

  void advance() override {
    const bool takes_run = valid_i.read() && (!unit_.in_run() || ends_run());
    if (takes_run) {
      std::vector<Bits> bits;
      for (const DataIn* port : inputs()) bits.push_back(port->read());
      unit_.begin(ports_.setup(bits));
      shown_ = false;
    } else if (unit_.in_run() && ready_i.read()) {
      unit_.next();
      shown_ = false;
    }
  }

  void reset() override {
    unit_ = LoweringUnit(ports_.size);
    shown_ = false;
  }

  int width(LoweringPorts::Input port) const { return ports_.width_of(port); }
  int width(LoweringPorts::Output port) const { return ports_.width_of(port); }

  LoweringPorts ports_;
  DataIn used_i_{*this, "used_i", width(LoweringPorts::used)};
  DataIn line_i_{*this, "line_i", width(LoweringPorts::line)};
  DataIn y_i_{*this, "y_i", width(LoweringPorts::y)};
  DataIn element_i_{*this, "element_i", width(LoweringPorts::element)};
  DataIn x_i_{*this, "x_i", width(LoweringPorts::x)};
  DataIn line_steps_i_{*this, "line_steps_i", width(LoweringPorts::line_steps)};
  DataIn y_steps_i_{*this, "y_steps_i", width(LoweringPorts::y_steps)};
  DataIn element_steps_i_{*this, "element_steps_i", width(LoweringPorts::element_steps)};
  DataIn x_steps_i_{*this, "x_steps_i", width(LoweringPorts::x_steps)};
  DataIn inner_last_i_{*this, "inner_last_i", width(LoweringPorts::inner_last)};
  DataIn middle_first_i_{*this, "middle_first_i", width(LoweringPorts::middle_first)};
  DataIn middle_last_i_{*this, "middle_last_i", width(LoweringPorts::middle_last)};
  DataIn height_i_{*this, "height_i", width(LoweringPorts::height)};
  DataIn width_i_{*this, "width_i", width(LoweringPorts::width)};
  DataIn length_i_{*this, "length_i", width(LoweringPorts::length)};
  DataOut count_o_{*this, "count_o", width(LoweringPorts::count)};
  DataOut last_o_{*this, "last_o", width(LoweringPorts::last)};
  DataOut read_o_{*this, "read_o", width(LoweringPorts::read)};
  DataOut line_o_{*this, "line_o", width(LoweringPorts::line_out)};
  DataOut element_o_{*this, "element_o", width(LoweringPorts::element_out)};
  LoweringUnit unit_;
  bool shown_ = false;  // the beat is on the outputs
};

}  // namespace

std::unique_ptr<UnitModule> make_lowering_unit(const char* name, const UnitParameters& parameters) {
  return std::make_unique<LoweringUnitModule>(name, LoweringPorts(parameters));
}

}  // namespace mantissa
