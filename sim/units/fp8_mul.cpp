// fp8_mul in SystemC: the golden product, with the register of rtl/fp8_mul.sv behind the multiplication.
#include "models/mac/fp8_mul.hpp"

#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct Fp8MulTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  Exact product;
  Rounded result;
  Flags flags;
};

class Fp8Mul : public PipelinedUnit<Fp8MulTransaction> {
 public:
  Fp8Mul(const sc_core::sc_module_name& name, const Format& a, const Format& b, int pipe_stages)
      : PipelinedUnit(name,
                      {{"multiply",
                        [a, b](auto& t) {
                          const Exact x = decode(t.a, a, t.flags);
                          const Exact y = decode(t.b, b, t.flags);
                          t.product = multiply(x, y, t.flags);
                        },
                        [](auto& t) { t.product.significand ^= std::uint64_t{1} << 62; }, pipe_stages >= 1},
                       {"pack",
                        [](auto& t) {
                          t.result = round(t.product, formats::fp32, Rounding::rne(), 0, Overflow::ieee);
                          t.result.flags |= t.flags;
                        },
                        [](auto& t) { t.result.code ^= 1U << 22; }, false}}),
        a_i_(*this, "a_i", a.bits()),
        b_i_(*this, "b_i", b.bits()) {}

 private:
  void load(Fp8MulTransaction& transaction) const override {
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
  }
  void store(const Fp8MulTransaction& transaction) override {
    p_o_.put(transaction.result.code);
    invalid_o_.put(transaction.result.flags.invalid ? 1 : 0);
  }

  DataIn a_i_;
  DataIn b_i_;
  DataOut p_o_{*this, "p_o", 32};
  DataOut invalid_o_{*this, "invalid_o", 1};
};

}  // namespace

std::unique_ptr<UnitModule> make_fp8_mul(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp8Mul>(name, parameters.format("A"), parameters.format("B"),
                                  parameters.at("PipeStages"));
}

}  // namespace mantissa
