// fp8_mul in SystemC: the golden product, with the register of rtl/fp8_mul.sv behind the multiplication.
#pragma once

#include "models/mac/fp8_mul.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct Fp8MulTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Exact product;
  Rounded result;
  Flags flags;
};

class Fp8Mul : public PipelinedUnit<Fp8MulTransaction> {
 public:
  Fp8Mul(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(Fp8MulTransaction& transaction) const override;
  void store(const Fp8MulTransaction& transaction) override;

  DataIn a_i_;
  DataIn b_i_;
  DataOut p_o_;
  DataOut invalid_o_;
};

}  // namespace mantissa
