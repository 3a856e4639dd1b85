// fp32_add: bins are those of an adder's stages.

#include "sim/verify/datapath_reference.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::verify {

UnitKind fp32_add_kind() {
  return {
      .name = "fp32_add",
      .module = "fp32_add",
      .what = "a + b in FP32, one rounding",
      .section = "2",
      .latency = "PipeStages",
      .parameters = {{"PipeStages", 0, "0 to 2 registers: after align, after normalise"}},
      .ports = {{"a_i", "32", "addend"},
                {"b_i", "32", "addend"},
                {"z_o", "32", "a_i + b_i"},
                {"flags_o", "5", "invalid, divide by zero, overflow, underflow, inexact"},
                {"tap_o", "TapW", "intermediate values: align, sum, normalised, rounded"}},
      .configurations = {{"combinational", {}},
                         {"1 stage", {{"PipeStages", 1}}},
                         {"2 stages", {{"PipeStages", 2}}}},
      .systemc = make_fp32_add,
      .reference =
          [](const UnitParameters&) {
            return std::make_unique<DatapathReference>(stimulus::find_vector_unit("fp32_add").build({}),
                                                       std::vector{0, 1}, fp32_add_datapath, "a", "b");
          },
      .optional_outputs = {"flags_o", "tap_o"},
  };
}

}  // namespace mantissa::verify
