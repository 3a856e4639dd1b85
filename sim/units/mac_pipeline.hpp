// The datapath of rtl/fp_mac.sv: the golden multiply-add stage by stage, with its registers between. fp8_mac
// and fp32_fma give it their ports.
#pragma once

#include "models/mac/fp8_mac.hpp"
#include "sim/units/pipelined_unit.hpp"

namespace mantissa {

struct MacTransaction {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t acc = 0;
  std::uint32_t draw = 0;
  MacState mac;
};

class MacPipeline : public PipelinedUnit<MacTransaction> {
 protected:
  MacPipeline(const sc_core::sc_module_name& name, const MacConfig& config, int pipe_stages)
      : PipelinedUnit(
            name,
            {{"product", [config](MacTransaction& t) { mac_multiply(t.mac, t.a, t.b, config); },
              [](MacTransaction& t) { t.mac.product.significand ^= std::uint64_t{1} << 62; },
              pipe_stages >= 3},
             {"align", [config](MacTransaction& t) { mac_align(t.mac, t.acc, config); },
              [](MacTransaction& t) { t.mac.alignment.aligned ^= 2; }, pipe_stages >= 1},
             {"normalise", [config](MacTransaction& t) { mac_add(t.mac, config); },
              [](MacTransaction& t) { t.mac.sum.significand ^= std::uint64_t{1} << 60; }, pipe_stages >= 2},
             {"round", [config](MacTransaction& t) { mac_round(t.mac, config, t.draw); },
              [](MacTransaction& t) { t.mac.code ^= 1; }, false}}),
        config_(config) {}

  const MacConfig& config() const { return config_; }

 private:
  MacConfig config_;
};

}  // namespace mantissa
