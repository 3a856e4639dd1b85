// double_sampler in SystemC: the golden model's steps with the registers of rtl/double_sampler.sv.
#pragma once

#include <array>
#include <optional>

#include "models/sampling/double_sampler.hpp"
#include "sim/units/pipelined_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct DoubleSamplerTransaction {
  float value = 0;
  std::optional<DoubleSampler> sampler;  // of the registers
  std::array<std::uint32_t, 2> draws{};
  float position = 0;
  DoubleSample sample;
};

class DoubleSamplerUnit : public PipelinedUnit<DoubleSamplerTransaction> {
 public:
  DoubleSamplerUnit(const sc_core::sc_module_name& name, const UnitParameters& parameters);

 private:
  void load(DoubleSamplerTransaction& transaction) const override;
  void store(const DoubleSamplerTransaction& transaction) override;

  int random_bits_;
  DataIn v_i_;
  DataIn inv_i_;
  DataIn s_i_;
  DataIn rnd_i_;
  DataOut sign_o_;
  DataOut base_o_;
  DataOut up_o_;
  DataOut invalid_o_;
};

}  // namespace mantissa
