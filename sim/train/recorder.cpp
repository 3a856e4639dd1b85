#include "sim/train/recorder.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sim/trace/capture_record.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/layer_records.hpp"
#include "sim/trace/run_record.hpp"
#include "sim/trace/safetensors_writer.hpp"

namespace mantissa::train {
namespace {

std::vector<std::int64_t> shape_of(const Node& node, Role role, std::int64_t elements) {
  const auto batched = [&](const ValueShape& shape) -> std::vector<std::int64_t> {
    const std::int64_t batch = elements / shape.elements();
    if (node.kind == NodeKind::linear) return {batch, shape.elements()};
    return {batch, shape.channels, shape.height, shape.width};
  };
  switch (role) {
    case Role::input:
    case Role::grad_input:
      return batched(node.in_shape);
    case Role::output:
    case Role::grad_output:
      return batched(node.out_shape);
    case Role::weight:
    case Role::grad_weight: {
      const ConvShape shape = conv_shape(node, 1);
      if (node.kind == NodeKind::linear) return {shape.out_channels, shape.in_channels};
      return {shape.out_channels, shape.in_channels, shape.kernel[0], shape.kernel[1]};
    }
    case Role::bias:
    case Role::gamma:
    case Role::beta:
      return {elements};
  }
  throw std::logic_error("a role without a shape");
}

}  // namespace

Recorder::Recorder(std::filesystem::path path, std::vector<std::uint32_t> steps, trace::Run run)
    : path_(std::move(path)), steps_(std::move(steps)), run_(std::move(run)) {
  std::sort(steps_.begin(), steps_.end());
  steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
}

bool Recorder::wants(std::uint32_t step) const {
  return std::binary_search(steps_.begin(), steps_.end(), step);
}

void Recorder::take(std::uint32_t step, const Node& node, Role role, std::span<const float> values) {
  tensors_[trace::tensor_name(step, node.name, role)] = {
      shape_of(node, role, static_cast<std::int64_t>(values.size())), {values.begin(), values.end()}};
}

void Recorder::end(std::uint32_t step, int loss_exponent, const Model& model) {
  trace::RunStep record;
  record.step = step;
  record.loss_scale = std::ldexp(1.0, loss_exponent);
  for (const GemmLayer* layer : model.gemm_layers())
    record.registers[layer->plan().name()] = layer->plan().registers;
  for (const NormLayer* layer : model.norm_layers())
    record.registers[layer->plan().name()] = layer->plan().registers;
  run_.by_step.push_back(std::move(record));
  for (const Node& node : model.network().nodes) {
    if (node.kind != NodeKind::conv && node.kind != NodeKind::linear) continue;
    const std::int64_t batch = tensors_.at(trace::tensor_name(step, node.name, Role::input)).shape[0];
    executed_macs_ += trace::macs_of(conv_shape(node, batch), Pass::forward);
  }
  if (step == steps_.back()) write(model.network());
}

void Recorder::write(const Network& network) const {
  std::vector<trace::TensorInfo> infos;
  const trace::Capture capture{.executed_macs = executed_macs_, .notes = {}};
  for (const auto& [name, taken] : tensors_) infos.push_back({.name = name, .shape = taken.shape});
  trace::write_safetensors(
      path_, infos,
      {{std::string(trace::layers_key), trace::layers_json(trace_layers(network))},
       {std::string(trace::run_key), trace::run_json(run_)},
       {std::string(trace::capture_key), trace::capture_json(capture)},
       {std::string(trace::origin_key), "mantissa train, network " + network.name}},
      [&](const trace::TensorInfo& tensor, std::uint64_t first, std::span<float> values) {
        const std::vector<float>& from = tensors_.at(tensor.name).values;
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), values.size(), values.begin());
      });
}

}  // namespace mantissa::train
