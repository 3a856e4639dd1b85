#include "sim/units/fp8_mul.hpp"

namespace mantissa {

Fp8Mul::Fp8Mul(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(name, {{"multiply",
                            [a = parameters.format("A"), b = parameters.format("B")](Fp8MulTransaction& t) {
                              const Exact x = decode(t.a, a, t.flags);
                              const Exact y = decode(t.b, b, t.flags);
                              t.product = multiply(x, y, t.flags);
                            },
                            [](Fp8MulTransaction& t) { t.product.significand ^= std::uint64_t{1} << 62; },
                            parameters.at("PipeStages") >= 1},
                           {"pack",
                            [](Fp8MulTransaction& t) {
                              t.result = round(t.product, formats::fp32, Rounding::rne(), 0, Overflow::ieee);
                              t.result.flags |= t.flags;
                            },
                            [](Fp8MulTransaction& t) { t.result.code ^= 1U << 22; }, false}}),
      a_i_(*this, "a_i", parameters.format("A").bits()),
      b_i_(*this, "b_i", parameters.format("B").bits()),
      p_o_(*this, "p_o", 32),
      invalid_o_(*this, "invalid_o", 1) {}

void Fp8Mul::load(Fp8MulTransaction& transaction) const {
  transaction.a = static_cast<std::uint32_t>(a_i_.value());
  transaction.b = static_cast<std::uint32_t>(b_i_.value());
}

void Fp8Mul::store(const Fp8MulTransaction& transaction) {
  p_o_.put(transaction.result.code);
  invalid_o_.put(transaction.result.flags.invalid ? 1 : 0);
}

}  // namespace mantissa
