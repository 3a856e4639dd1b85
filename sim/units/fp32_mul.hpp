// fp32_mul in SystemC: the golden product and its rounding, with the registers of rtl/fp32_mul.sv between.
#pragma once

#include "models/format/round.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct Fp32MulTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Exact x;
  Exact y;
  Exact product;
  Flags flags;
  std::uint32_t code = 0;
};

class Fp32Mul : public PipelinedUnit<Fp32MulTransaction> {
 public:
  Fp32Mul(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(Fp32MulTransaction& transaction) const override;
  void store(const Fp32MulTransaction& transaction) override;

  DataIn a_i_;
  DataIn b_i_;
  DataOut z_o_;
  DataOut flags_o_;
};

}  // namespace mantissa
