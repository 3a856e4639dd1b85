#include "sim/units/fp32_mul.hpp"

namespace mantissa {

Fp32Mul::Fp32Mul(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(
          name,
          {{"decode",
            [](Fp32MulTransaction& t) {
              t.x = decode(t.a, formats::fp32, t.flags);
              t.y = decode(t.b, formats::fp32, t.flags);
            },
            [](Fp32MulTransaction& t) { t.x.negative = !t.x.negative; }, parameters.at("PipeStages") >= 2},
           {"multiply", [](Fp32MulTransaction& t) { t.product = multiply(t.x, t.y, t.flags); },
            [](Fp32MulTransaction& t) { t.product.significand ^= std::uint64_t{1} << 41; },
            parameters.at("PipeStages") >= 1},
           {"round",
            [](Fp32MulTransaction& t) {
              const Rounded result = round(t.product, formats::fp32, Rounding::rne(), 0, Overflow::ieee);
              t.code = result.code;
              t.flags |= result.flags;
            },
            [](Fp32MulTransaction& t) { t.code ^= 1; }, false}}),
      a_i_(*this, "a_i", 32),
      b_i_(*this, "b_i", 32),
      z_o_(*this, "z_o", 32),
      flags_o_(*this, "flags_o", 5) {}

void Fp32Mul::load(Fp32MulTransaction& transaction) const {
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
}

void Fp32Mul::store(const Fp32MulTransaction& transaction) {
  z_o_.put(transaction.code);
  flags_o_.put(transaction.flags.bits());
}

}  // namespace mantissa
