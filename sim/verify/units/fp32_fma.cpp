// fp32_fma: bins are those of the multiply-add datapath.
#include "sim/units/fp32_fma.hpp"

#include "sim/verify/datapath_bins.hpp"
#include "sim/verify/datapath_view.hpp"
#include "sim/verify/units/unit_table.hpp"
#include "sim/verify/vector_reference.hpp"

namespace mantissa::verify {
namespace {

class Fp32FmaReference : public VectorReference {
 public:
  explicit Fp32FmaReference(const UnitParameters& /*parameters*/)
      : VectorReference(stimulus::find_vector_unit("fp32_fma").build({}), {0, 1, 2}, {0, 1}),
        bins_(coverage_, config, "c") {}

  void accept(const Transaction& inputs) override {
    const std::vector<std::uint32_t> fields = fields_of(inputs);
    const MacState state = state_of(fields);
    sample_operands(fields, {state.code, state.flags.bits()});
    bins_.sample(state, 0);
    expect({Bits(32, state.code), Bits(5, state.flags.bits()),
            pack_mac_taps(mac_taps(state, config), config, fp32_fma_exponent_bits)},
           inputs);
  }

  std::vector<std::string> explain(const Transaction& cause) const override {
    std::vector<std::string> lines = VectorReference::explain(cause);
    const std::vector<std::string> stages = datapath_view(state_of(fields_of(cause)), config);
    lines.insert(lines.end(), stages.begin(), stages.end());
    return lines;
  }

  TapLayout tap_layout() const override { return mac_tap_layout(config, fp32_fma_exponent_bits); }

 private:
  static constexpr MacConfig config = fp32_fma_config();

  static MacState state_of(const std::vector<std::uint32_t>& fields) {
    MacState state;
    mac_multiply(state, fields[0], fields[1], config);
    mac_align(state, fields[2], config);
    mac_add(state, config);
    mac_round(state, config, 0);
    return state;
  }

  DatapathBins bins_;
};

}  // namespace

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
      .systemc = [](const UnitParameters& p) { return std::make_unique<Fp32Fma>("systemc", p); },
      .reference = [](const UnitParameters& p) { return std::make_unique<Fp32FmaReference>(p); },
      .optional_outputs = {"flags_o", "tap_o"},
  };
}

}  // namespace mantissa::verify
