// A model under test in the bench, with the signals on its outputs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/units/unit_module.hpp"
#include "sim/verify/reference.hpp"

namespace mantissa::verify {

class Station {
 public:
  Station(UnitModule& unit, std::string name) : name_(std::move(name)), unit_(unit) {
    unit.ready_o.bind(ready_);
    unit.valid_o.bind(valid_);
    for (DataOut* port : unit.outputs()) {
      data_.push_back(std::make_unique<sc_core::sc_signal<Bits>>(sc_core::sc_gen_unique_name("out"),
                                                                 Bits(port->width())));
      port->bind(*data_.back());
    }
  }

  const std::string& name() const { return name_; }
  bool ready() const { return ready_.read(); }
  bool valid() const { return valid_.read(); }
  const Bits& output(std::size_t i) const { return data_[i]->read(); }
  std::size_t outputs() const { return data_.size(); }
  std::string port(std::size_t i) const { return unit_.outputs()[i]->basename(); }
  UnitModule& unit() { return unit_; }

  Transaction snapshot() const {
    Transaction values;
    values.reserve(data_.size());
    for (const auto& signal : data_) values.push_back(signal->read());
    return values;
  }

 private:
  std::string name_;
  UnitModule& unit_;
  sc_core::sc_signal<bool> ready_;
  sc_core::sc_signal<bool> valid_;
  std::vector<std::unique_ptr<sc_core::sc_signal<Bits>>> data_;
};

}  // namespace mantissa::verify
