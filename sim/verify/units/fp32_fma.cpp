// fp32_fma: bins are those of the multiply-add datapath.

#include "sim/verify/datapath_reference.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {

UnitKind fp32_fma_kind() {
  return {
      .name = "fp32_fma",
      .module = "fp32_fma",
      .what = "a*b + c in FP32, one rounding",
      .section = "2",
      .latency = "PipeStages",
      .parameters = {{"PipeStages", 0, "0 to 3 registers: after align, after normalise, after the product"}},
      .ports = {{"a_i", "32", "factor"},
                {"b_i", "32", "factor"},
                {"c_i", "32", "addend"},
                {"z_o", "32", "a_i*b_i + c_i"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"},
                {"tap_o", "TapW", "intermediate values: product, align, sum, normalised, rounded"}},
      .configurations = {{"combinational", {}},
                         {"1 stage", {{"PipeStages", 1}}},
                         {"2 stages", {{"PipeStages", 2}}},
                         {"3 stages", {{"PipeStages", 3}}}},
      .systemc = make_fp32_fma,
      .reference =
          [](const UnitParameters&) {
            return std::make_unique<DatapathReference>(stimulus::find_vector_unit("fp32_fma").build({}),
                                                       std::vector{0, 1, 2}, fp32_fma_datapath, "c");
          },
      .optional_outputs = {"flags_o", "tap_o"},
  };
}

}  // namespace mantissa::verify
