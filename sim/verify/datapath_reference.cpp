#include "sim/verify/datapath_reference.hpp"

#include "sim/verify/datapath_view.hpp"

namespace mantissa::verify {

// A sum that is subnormal is exact: only a product underflows.
DatapathReference::DatapathReference(stimulus::VectorUnit unit, std::vector<int> input_of,
                                     const MacDatapath& datapath, const std::string& addend,
                                     const std::string& product)
    : VectorReference(std::move(unit), std::move(input_of), {0, 1},
                      {.invalid = true, .overflow = true, .underflow = datapath.multiplies, .inexact = true}),
      datapath_(datapath),
      bins_(coverage_, datapath.config, addend, product) {}

MacState DatapathReference::state_of(const std::vector<std::uint32_t>& fields) const {
  if (datapath_.multiplies) return mac_state(fields[0], fields[1], fields[2], config(), draw_of(fields));
  MacState state;
  fp32_add_align(state, fields[0], fields[1]);
  mac_add(state, config());
  mac_round(state, config(), 0);
  return state;
}

void DatapathReference::accept(const Transaction& inputs) {
  const std::vector<std::uint32_t> fields = fields_of(inputs);
  const MacState state = state_of(fields);
  sample_operands(fields, {state.code, state.flags.bits()});
  bins_.sample(state, draw_of(fields));
  expect(
      {Bits(config().acc.bits(), state.code), Bits(5, state.flags.bits()), pack_mac_taps(state, datapath_)},
      inputs);
}

std::vector<std::string> DatapathReference::explain(const Transaction& cause) const {
  std::vector<std::string> lines = VectorReference::explain(cause);
  for (std::string& stage : datapath_view(state_of(fields_of(cause)), config(), datapath_.multiplies)) {
    lines.push_back(std::move(stage));
  }
  return lines;
}

}  // namespace mantissa::verify
