#include "sim/replay/buffer_check.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "models/mac/lowering.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/norm_cycles.hpp"
#include "sim/arch/stream_cycles.hpp"
#include "sim/replay/pass_cost.hpp"
#include "sim/replay/update_pass.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
namespace {

std::int64_t& bytes_of(Architecture& arch, const std::string& key) {
  if (key == "a_buffer") return arch.a_buffer_bytes;
  return key == "b_buffer" ? arch.b_buffer_bytes : arch.c_buffer_bytes;
}

int bits_of(const OperandSite& site) { return site.format.type.bits(); }

}  // namespace

BufferCheck::BufferCheck(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch)
    : trace_(trace), recipe_(recipe), arch_(arch), large_(arch) {}

void BufferCheck::grow_for(const PlannedLayer& planned, const std::string& what,
                           const std::function<void(const Architecture&)>& run) {
  const auto where = [&] {
    return fmt::format("step {}, layer {}, {}", planned.step, in_quotes(planned.layer->name), what);
  };
  for (;;) {
    try {
      run(large_);
      return;
    } catch (const BufferTooSmall& small) {
      bytes_of(large_, small.key()) = small.needed();
      why_[small.key()] = where() + ": " + small.why();
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(trace_.path().string() + ": " + where() + ": " + error.what());
    }
  }
}

void BufferCheck::look(const PlannedLayer& planned) {
  if (multiplies(planned.layer->kind)) {
    look_at_products(planned);
    look_at_update(planned);
  } else {
    look_at_norm(planned);
  }
}

void BufferCheck::look_at_products(const PlannedLayer& planned) {
  const trace::Layer& layer = *planned.layer;
  const LayerPlan& plan = planned.plan;
  const std::optional<ConvShape> geometry = geometry_of(trace_, planned.step, layer);
  if (arch_.dataflow != Dataflow::os_skip || !geometry) return;
  const auto check = [&](Pass pass, const OperandSite& a, const OperandSite& b) {
    const PassSides sides = sides_of(*geometry, pass);
    grow_for(planned, "pass " + std::string(name_of(pass)), [&](const Architecture& arch) {
      if (!arch.in_blocks()) {
        step_length(arch,
                    {.m = sides.m, .n = sides.n, .k = sides.k, .a_bits = bits_of(a), .b_bits = bits_of(b)});
        return;
      }
      check_fits(arch, {.shape = *geometry,
                        .pass = pass,
                        .outputs = {0, sides.m, 0, sides.n * geometry->groups},
                        .a_bits = bits_of(a),
                        .b_bits = bits_of(b),
                        .sum_bits = sum_bits(a.format.type, b.format.type, plan, sides.k),
                        .fp32 = a.format.type.is_fp32(),
                        .statistics = statistics_of(planned, pass),
                        .x_bits = planned.fused.x_bits});
    });
  };
  check(Pass::forward, plan.input(), plan.weight());
  if (trace_.find(planned.step, layer, Role::grad_output) == nullptr) return;
  if (layer.input_gradient) check(Pass::input_gradient, plan.error(), plan.weight());
  check(Pass::weight_gradient, plan.error_for_weights().value_or(plan.error()), plan.input());
}

void BufferCheck::look_at_norm(const PlannedLayer& planned) {
  const std::optional<NormShape> shape = norm_shape_of(trace_, planned.step, *planned.layer);
  if (!shape) return;
  const bool quantizes = planned.plan.norm_quantizes();
  const bool fused = arch_.in_blocks() && arch_.norm_fusion == NormFusion::drain && !quantizes;
  for (const NormDirection direction : {NormDirection::forward, NormDirection::backward}) {
    const bool forward = direction == NormDirection::forward;
    if (!forward && trace_.find(planned.step, *planned.layer, Role::grad_output) == nullptr) continue;
    const std::optional<TensorFormat> drained = planned.plan.drain(forward ? Role::output : Role::grad_input);
    const NormStreams streams{.channels = shape->channels,
                              .elements = shape->per_channel(),
                              .x_bits = quantizes ? 8 : bits_of(planned.plan.input()),
                              .result_bits = drained ? drained->type.bits() : formats::fp32.bits(),
                              .gradient_bits = quantizes ? 8 : bits_of(planned.plan.error()),
                              .parts = planned.plan.norm(shape->per_channel()).parts};
    grow_for(planned, forward ? "forward" : "backward", [&](const Architecture& arch) {
      // Of a fused norm, what its sweep needs is no more than the stream behind it does.
      if (fused) {
        stream_segment(arch, fused_norm_job(arch, streams, direction));
      } else {
        norm_step_length(arch, streams, direction);
      }
    });
  }
}

void BufferCheck::look_at_update(const PlannedLayer& planned) {
  const trace::TensorInfo* weight = trace_.find(planned.step, *planned.layer, Role::weight);
  if (!arch_.in_blocks() || arch_.update_lanes == 0 || weight == nullptr) return;
  grow_for(planned, "update", [&](const Architecture& arch) {
    update_pass(recipe_, planned.plan, arch, static_cast<std::int64_t>(weight->elements()));
  });
}

void BufferCheck::finish() const {
  if (why_.empty()) return;
  std::string problems;
  Architecture is = arch_;
  Architecture large = large_;
  for (const auto& [key, why] : why_) {
    problems += fmt::format("{}{} {} is too small; the smallest that works is {} ({})",
                            problems.empty() ? "" : "; ", key, quantity_text(bytes_of(is, key), Unit::bytes),
                            quantity_text(bytes_of(large, key), Unit::bytes), why);
  }
  throw std::invalid_argument(trace_.path().string() + ": " + problems);
}

}  // namespace mantissa::replay
