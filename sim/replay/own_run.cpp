#include "sim/replay/own_run.hpp"

#include "models/format/convert.hpp"

namespace mantissa::replay {
namespace {

using trace::Role;

Role result_of(Pass pass) {
  if (pass == Pass::forward) return Role::output;
  return pass == Pass::input_gradient ? Role::grad_input : Role::grad_weight;
}

// From (group, m, n) to the layer's tensor: rows of a forward or input-gradient product are (image, place).
std::vector<float> in_tensor_order(const GemmPass& pass, const GemmPassResult& result) {
  if (pass.pass == Pass::weight_gradient) return result.values;
  const ConvShape& geometry = pass.geometry;
  const auto [m, n, k] = result.sides;
  const std::int64_t places = m / geometry.batch;
  std::vector<float> tensor(result.values.size());
  for (std::int64_t group = 0; group < geometry.groups; ++group) {
    for (std::int64_t row = 0; row < m; ++row) {
      for (std::int64_t col = 0; col < n; ++col) {
        const std::int64_t channel = (row / places * geometry.groups + group) * n + col;
        tensor[channel * places + row % places] = result.values[(group * m + row) * n + col];
      }
    }
  }
  return tensor;
}

}  // namespace

const trace::RunStep* own_step(const trace::Trace& trace, std::uint32_t step, const Recipe& recipe) {
  return trace.run() && trace.run()->recipe == recipe.name ? trace.run()->at(step) : nullptr;
}

TensorFormat as_in_run(const trace::RunStep* run, const trace::Layer& layer, Role role,
                       const TensorFormat& how) {
  TensorFormat result = how;
  if (const int* exponent = run == nullptr ? nullptr : run->scale_of(layer.name, role)) {
    result.scale = TensorFormat::Scale::fixed;
    result.scale_exponent = *exponent;
  }
  return result;
}

OwnResults::OwnResults(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                       RunBits& bits)
    : trace_(trace),
      recipe_(recipe),
      same_array_(trace.run() && trace.run()->rows == arch.rows && trace.run()->cols == arch.cols),
      bits_(bits) {}

void OwnResults::compare(std::uint32_t step, const trace::Layer& layer, const GemmPass& pass,
                         const GemmPassResult& result) const {
  if (trace_.find(step, layer, result_of(pass.pass)) == nullptr) return;
  compare(step, layer, result_of(pass.pass), in_tensor_order(pass, result));
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
