// double_sampler in SystemC: the golden model's steps with the registers of rtl/double_sampler.sv.
#include "models/sampling/double_sampler.hpp"

#include <array>
#include <cmath>
#include <optional>

#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

struct DoubleSamplerTransaction {
  float value = 0;
  std::optional<DoubleSampler> sampler;  // of the registers
  std::array<std::uint32_t, 2> draws{};
  float position = 0;
  DoubleSample sample;
};

class DoubleSamplerUnit : public PipelinedUnit<DoubleSamplerTransaction> {
 public:
  DoubleSamplerUnit(const sc_core::sc_module_name& name, int random_bits, int pipe_stages)
      : PipelinedUnit(
            name,
            {{"product", [](auto& t) { t.position = t.sampler->position(t.value); },
              [](auto& t) { t.position = fp32_value(fp32_bits(t.position) ^ (1U << 23)); }, pipe_stages >= 1},
             {"samples",
              [](auto& t) { t.sample = t.sampler->sample_at(t.position, t.value, t.draws[0], t.draws[1]); },
              [](auto& t) { t.sample.up[1] = !t.sample.up[1]; }, pipe_stages >= 2}}),
        random_bits_(random_bits) {}

 private:
  void load(DoubleSamplerTransaction& transaction) const override {
    transaction.value = v_i_.number();
    // The sign of the register does not count. The way back, M / s, is not this unit's.
    transaction.sampler = DoubleSampler::from_registers(std::fabs(inv_i_.number()), 0.0F,
                                                        static_cast<int>(s_i_.value()), random_bits_);
    for (int i = 0; i < 2; ++i) {
      transaction.draws[i] = static_cast<std::uint32_t>(rnd_i_.read().field(i * random_bits_, random_bits_));
    }
  }
  void store(const DoubleSamplerTransaction& transaction) override {
    const DoubleSample& sample = transaction.sample;
    sign_o_.put(sample.negative ? 1 : 0);
    base_o_.put(sample.base);
    up_o_.put((sample.up[0] ? 1U : 0U) | (sample.up[1] ? 2U : 0U));
    invalid_o_.put(sample.invalid ? 1 : 0);
  }

  int random_bits_;
  DataIn v_i_{*this, "v_i", 32};
  DataIn inv_i_{*this, "inv_i", 32};
  DataIn s_i_{*this, "s_i", 8};
  DataIn rnd_i_{*this, "rnd_i", 2 * random_bits_};
  DataOut sign_o_{*this, "sign_o", 1};
  DataOut base_o_{*this, "base_o", 8};
  DataOut up_o_{*this, "up_o", 2};
  DataOut invalid_o_{*this, "invalid_o", 1};
};

}  // namespace

std::unique_ptr<UnitModule> make_double_sampler(const char* name, const UnitParameters& parameters) {
  return std::make_unique<DoubleSamplerUnit>(name, parameters.at("RndBits"), parameters.at("PipeStages"));
}

}  // namespace mantissa
