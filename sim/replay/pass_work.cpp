#include "sim/replay/pass_work.hpp"

#include "sim/replay/pass_cost.hpp"

namespace mantissa::replay {

GemmWork gemm_work(const GemmPass& pass, const GemmPassResult& result, const GemmCycles& cost,
                   const LayerPlan& plan, const Architecture& arch,
                   std::initializer_list<const RecordedOperand*> made) {
  GemmWork work{.a = pass.first->encoded.type(),
                .b = pass.second->encoded.type(),
                .c = result.drained ? result.drained->type : ElementType(),
                .accumulator = plan.accumulator(),
                .k = result.sides.k,
                .sum_bits = block_job(pass, result, plan).sum_bits,
                .x_bits = pass.statistics == DrainStatistics::backward ? pass.x_bits : 0,
                .bias = !pass.bias.empty(),
                .cost = cost,
                .quantized = {}};
  for (const RecordedOperand* operand : made) {
    const ElementType type = operand->encoded.type();
    if (!type.is_fp32()) work.quantized.push_back({type, operand->values.size()});
    work.draws += operand->draws;
    work.pruned += operand->pruned;
  }
  if (const std::optional<Pruner> pruner = plan.pruner()) work.prune_random_bits = pruner->random_bits;
  // Every lane ticks in every row of every tile; an accumulator's generator at every rounding of a tile.
  if (result.drained && result.drained->rounding.stochastic())
    work.draws += cost.tiles * arch.rows * arch.cols;
  if (work.a.is_code() && work.accumulator.stochastic())
    work.draws += cost.tiles * work.accumulator.roundings(result.sides.k) * arch.cols;
  return work;
}

NormWork norm_work(const NormPass& pass, const std::optional<TensorFormat>& drained, const GemmCycles& cost,
                   const RecordedOperand& made) {
  const std::size_t elements = made.values.size();
  NormWork work{.range = pass.layer->rule.kind == NormRule::Kind::range,
                .backward = pass.direction == NormDirection::backward,
                .elements = elements,
                .dram_bytes = cost.dram_bytes,
                .sram_bytes = cost.sram_bytes,
                .quantized = {},
                .draws = made.draws};
  const ElementType type = made.encoded.type();
  if (!type.is_fp32()) work.quantized.push_back({type, elements});
  if (drained) {
    work.quantized.push_back({drained->type, elements});
    if (drained->rounding.stochastic()) work.draws += elements;
  }
  return work;
}

}  // namespace mantissa::replay
