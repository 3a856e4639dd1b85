// lfsr in SystemC: a loaded generator that offers the draws of the next cycle.
#pragma once

#include <optional>

#include "models/random/lfsr.hpp"
#include "sim/units/clocked_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

class LfsrUnit : public ClockedUnit {
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
  void evaluate() override;
  void advance() override;
  void reset() override;

  int leap_;
  int draws_;
  bool corrupt_ = false;
  DataIn seed_i_;
  DataOut rnd_o_;
  DataOut zero_seed_o_;
  std::optional<Lfsr> generator_;
  bool zero_seed_ = false;
};

}  // namespace mantissa
