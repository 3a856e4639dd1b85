#include "sim/replay/own_run.hpp"

#include "models/format/convert.hpp"
#include "sim/recipe/recipe_text.hpp"

namespace mantissa::replay {
const trace::RunStep* own_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  if (!trace.run() || trace.run()->recipe_digest.empty()) return nullptr;
  return trace.run()->recipe_digest == recipe_digest(recipe) ? trace.run()->at(step) : nullptr;
}

OwnResults::OwnResults(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                       RunBits& bits)
    : trace_(trace),
      recipe_(recipe),
      same_array_(trace.run() && trace.run()->rows == arch.rows && trace.run()->cols == arch.cols),
      bits_(bits) {}

void OwnResults::compare(std::uint32_t step, const trace::Layer& layer, const GemmPass& pass,
                         const GemmPassResult& result) const {
  const Role role = result_role(pass.pass);
  if (trace_.find(step, layer, role) == nullptr) return;
  std::vector<float> tensor(result.values.size());
  in_tensor_order(pass.geometry, pass.pass, result.values, tensor);
  compare(step, layer, role, tensor);
}

void OwnResults::compare(std::uint32_t step, const trace::Layer& layer, Role role,
                         std::span<const float> values) const {
  if (!same_array_ || own_step(trace_, step, recipe_) == nullptr || trace_.find(step, layer, role) == nullptr)
    return;
  const std::vector<float> recorded = trace_.values(step, layer, role);
  for (std::size_t i = 0; i < values.size(); ++i)
    bits_.different += fp32_bits(values[i]) == fp32_bits(recorded[i]) ? 0 : 1;
  bits_.compared += values.size();
}

}  // namespace mantissa::replay
