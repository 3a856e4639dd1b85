#include "sim/replay/norm_fusion.hpp"

namespace mantissa::replay {
namespace {

bool recorded(const trace::Trace& trace, const PlannedLayer& layer, Role role) {
  return trace.find(layer.step, *layer.layer, role) != nullptr;
}

// Results of one pass, channel by channel.
bool same(const NormShape& norm, std::int64_t channels, std::int64_t elements) {
  return norm.channels == channels && norm.per_channel() == elements;
}

bool makes_x(const trace::Trace& trace, const PlannedLayer& before, const NormShape& norm) {
  if (!multiplies(before.layer->kind)) return false;
  const std::optional<ConvShape> g = geometry_of(trace, before.step, *before.layer);
  return g && same(norm, g->out_channels, g->batch * g->out[0] * g->out[1]);
}

bool makes_g(const trace::Trace& trace, const PlannedLayer& behind, const NormShape& norm) {
  if (!multiplies(behind.layer->kind) || !behind.layer->input_gradient) return false;
  if (!recorded(trace, behind, Role::grad_output)) return false;
  const std::optional<ConvShape> g = geometry_of(trace, behind.step, *behind.layer);
  return g && same(norm, g->in_channels, g->batch * g->in[0] * g->in[1]);
}

}  // namespace

void fuse_norms(const trace::Trace& trace, const Architecture& arch, std::vector<PlannedLayer>& layers) {
  if (!arch.in_blocks() || arch.norm_fusion != NormFusion::drain) return;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    PlannedLayer& norm = layers[i];
    const std::optional<NormShape> shape = norm_shape_of(trace, norm.step, *norm.layer);
    if (!shape || norm.plan.norm_quantizes() || !recorded(trace, norm, Role::gamma) ||
        !recorded(trace, norm, Role::beta))
      continue;
    if (i > 0 && makes_x(trace, layers[i - 1], *shape)) {
      norm.fused.forward = layers[i - 1].fused.forward = true;
      const NormRule rule = norm.plan.norm(shape->per_channel());
      layers[i - 1].fused.chunks = rule.range.channel.chunks;
      layers[i - 1].fused.forward_parts = rule.parts;
    }
    if (i + 1 == layers.size() || !recorded(trace, norm, Role::grad_output)) continue;
    if (!makes_g(trace, layers[i + 1], *shape)) continue;
    norm.fused.backward = layers[i + 1].fused.backward = true;
    layers[i + 1].fused.backward_parts = norm.plan.norm(shape->per_channel()).parts;
    layers[i + 1].fused.x_bits = norm.plan.input().format.type.bits();
  }
}

}  // namespace mantissa::replay
