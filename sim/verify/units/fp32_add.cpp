// fp32_add: bins are those of an adder's stages.
#include "sim/units/fp32_add.hpp"

#include "sim/verify/datapath_bins.hpp"
#include "sim/verify/datapath_view.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class Fp32AddReference : public VectorReference {
 public:
  explicit Fp32AddReference(const UnitParameters& /*parameters*/)
      : VectorReference(stimulus::find_vector_unit("fp32_add").build({}), {0, 1}, {0, 1},
                        {.invalid = true, .overflow = true, .inexact = true}),
        bins_(coverage_, fp32_add_config(), "a", "b") {}

  void accept(const Transaction& inputs) override {
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const MacState state = state_of(fields);
    sample_operands(fields, {state.code, state.flags.bits()});
    bins_.sample(state, 0);
    expect({Bits(32, state.code), Bits(5, state.flags.bits()), pack_fp32_add_taps(state)}, inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    std::vector<std::string> lines = VectorReference::explain(cause);
    const std::vector<std::string> stages =
        datapath_view(state_of(fields_of(cause)), fp32_add_config(), false);
    lines.insert(lines.end(), stages.begin(), stages.end());
    return lines;
  }

  TapLayout tap_layout() const override { return fp32_add_tap_layout(); }

 private:
  static MacState state_of(const std::vector<std::uint32_t>& fields) {
    MacState state;
    fp32_add_align(state, fields[0], fields[1]);
    mac_add(state, fp32_add_config());
    mac_round(state, fp32_add_config(), 0);
    return state;
  }

  DatapathBins bins_;
};

}  // namespace

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
      .systemc = [](const UnitParameters& p) { return std::make_unique<Fp32Add>("systemc", p); },
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp32AddReference>(p); },
      .optional_outputs = {"flags_o", "tap_o"},
  };
}

}  // namespace mantissa::verify
