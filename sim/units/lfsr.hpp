// lfsr in SystemC: a loaded generator that offers the draws of the next cycle.
#pragma once

#include <optional>

#include "models/random/lfsr.hpp"
#include "sim/units/unit_module.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class LfsrUnit : public UnitModule {
 public:
  LfsrUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

  std::vector<std::string> stages() const override { return {"leap"}; }
  void corrupt(std::string_view stage) override;

 private:
  // The draws of this cycle, and the generator after them.
  struct Offer {
    Bits draws;
    Lfsr after;
  };
  Offer offer() const;
  void before_end_of_elaboration() override;
  void evaluate();
  void advance();

  int leap_;
  int draws_;
  bool corrupt_ = false;
  DataIn seed_i_;
  DataOut rnd_o_;
  DataOut zero_seed_o_;
  std::optional<Lfsr> generator_;
  bool zero_seed_ = false;
  sc_core::sc_event moved_;
};

}  // namespace mantissa
