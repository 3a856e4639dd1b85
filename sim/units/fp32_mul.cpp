// fp32_mul in SystemC: the golden product and its rounding, with the registers of rtl/fp32_mul.sv between.
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

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
  Fp32Mul(const sc_core::sc_module_name& name, int pipe_stages)
      : PipelinedUnit(name,
                      {{"decode",
                        [](auto& t) {
                          t.x = decode(t.a, formats::fp32, t.flags);
                          t.y = decode(t.b, formats::fp32, t.flags);
                        },
                        [](auto& t) { t.x.negative = !t.x.negative; }, pipe_stages >= 2},
                       {"multiply", [](auto& t) { t.product = multiply(t.x, t.y, t.flags); },
                        [](auto& t) { t.product.significand ^= std::uint64_t{1} << 41; }, pipe_stages >= 1},
                       {"round",
                        [](auto& t) {
                          const Rounded result =
                              round(t.product, formats::fp32, Rounding::rne(), 0, Overflow::ieee);
                          t.code = result.code;
                          t.flags |= result.flags;
                        },
                        [](auto& t) { t.code ^= 1; }, false}}) {}

 private:
  void load(Fp32MulTransaction& transaction) const override {
    transaction.a = a_i_.code();
    transaction.b = b_i_.code();
  }
  void store(const Fp32MulTransaction& transaction) override {
    z_o_.put(transaction.code);
    flags_o_.put(transaction.flags.bits());
  }

  DataIn a_i_{*this, "a_i", 32};
  DataIn b_i_{*this, "b_i", 32};
  DataOut z_o_{*this, "z_o", 32};
  DataOut flags_o_{*this, "flags_o", 5};
};

}  // namespace

std::unique_ptr<UnitModule> make_fp32_mul(const char* name, const UnitParameters& parameters) {
  return std::make_unique<Fp32Mul>(name, parameters.at("PipeStages"));
}

}  // namespace mantissa
