#include "sim/units/double_sampler.hpp"

#include <cmath>

#include "models/format/convert.hpp"

namespace mantissa {

DoubleSamplerUnit::DoubleSamplerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : PipelinedUnit(
          name,
          {{"product", [](DoubleSamplerTransaction& t) { t.position = t.sampler->position(t.value); },
            [](DoubleSamplerTransaction& t) { t.position = fp32_value(fp32_bits(t.position) ^ (1U << 23)); },
            parameters.at("PipeStages") >= 1},
           {"samples",
            [](DoubleSamplerTransaction& t) {
              t.sample = t.sampler->sample_at(t.position, t.value, t.draws[0], t.draws[1]);
            },
            [](DoubleSamplerTransaction& t) { t.sample.up[1] = !t.sample.up[1]; },
            parameters.at("PipeStages") >= 2}}),
      random_bits_(parameters.at("RndBits")),
      v_i_(*this, "v_i", 32),
      inv_i_(*this, "inv_i", 32),
      s_i_(*this, "s_i", 8),
      rnd_i_(*this, "rnd_i", 2 * random_bits_),
      sign_o_(*this, "sign_o", 1),
      base_o_(*this, "base_o", 8),
      up_o_(*this, "up_o", 2),
      invalid_o_(*this, "invalid_o", 1) {}

void DoubleSamplerUnit::load(DoubleSamplerTransaction& transaction) const {
  transaction.value = fp32_value(static_cast<std::uint32_t>(v_i_.value()));
  // The sign of the register does not count. The way back, M / s, is not this unit's.
  const float levels_per_unit = std::fabs(fp32_value(static_cast<std::uint32_t>(inv_i_.value())));
  transaction.sampler =
      DoubleSampler::from_registers(levels_per_unit, 0.0F, static_cast<int>(s_i_.value()), random_bits_);
  const Bits& draws = rnd_i_.read();
  for (int i = 0; i < 2; ++i) {
    transaction.draws[i] = static_cast<std::uint32_t>(draws.field(i * random_bits_, random_bits_));
  }
}

void DoubleSamplerUnit::store(const DoubleSamplerTransaction& transaction) {
  const DoubleSample& sample = transaction.sample;
  sign_o_.put(sample.negative ? 1 : 0);
  base_o_.put(sample.base);
  up_o_.put((sample.up[0] ? 1U : 0U) | (sample.up[1] ? 2U : 0U));
  invalid_o_.put(sample.invalid ? 1 : 0);
}

}  // namespace mantissa
