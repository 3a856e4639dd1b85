#include "sim/replay/pass_cost.hpp"

#include "models/mac/int_mac.hpp"
#include "models/mac/pass_phases.hpp"
#include "models/tensor/nonzero_counts.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/arch/block_plan.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa::replay {
namespace {

// Enough to see what repeats; a report stays small.
constexpr std::size_t timeline_intervals = 1500;

std::int64_t bytes_as_lowered(const GemmShape& shape, std::int64_t groups) {
  return groups *
         (packed_bytes(shape.m * shape.k, shape.a_bits) + packed_bytes(shape.k * shape.n, shape.b_bits) +
          packed_bytes(shape.m * shape.n, shape.c_bits));
}

BlockMapping whole(const BlockJob& job) {
  return {BlockOrder::m_outside, job.outputs.rows(), job.outputs.cols(), std::int64_t{1} << 40};
}

PassCost blocks_cost(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                     const Architecture& arch, int threads) {
  BlockJob job = block_job(pass, result, plan);
  const std::vector<std::uint32_t> rows = packed_rows(pass, threads);
  const MappedCost best = mapped_cost(arch, job, block_counts(pass, result, arch, threads), rows);
  PassCost cost{.cost = best.cost.cycles, .mapping = text_of(best), .blocks = best.mapping};
  cost.dense_cycles = cost.cost.cycles();
  if (job.skip) {
    job.skip = false;
    cost.dense_cycles = mapped_cost(arch, job, {}, rows).cost.cycles.cycles();
  }
  cost.scheduled_macs = static_cast<std::uint64_t>(BlockPlan(arch, job, whole(job), rows).scheduled_macs());
  return cost;
}

// The other simulators' dataflows have no memory: their cycles are all compute, and nothing is skipped.
GemmCycles group_cost(const Architecture& arch, const GemmShape& shape, bool skip,
                      std::span<const std::uint16_t> nonzero) {
  if (arch.dataflow == Dataflow::os_skip) return gemm_cycles(arch, shape, skip, nonzero);
  const FoldCycles folds = fold_cycles(arch.dataflow, arch.rows, arch.cols, shape.m, shape.n, shape.k);
  GemmCycles cost;
  cost.compute = folds.cycles;
  cost.macs = static_cast<std::uint64_t>(shape.m) * shape.n * shape.k;
  cost.tiles = cost.steps = folds.folds;
  return cost;
}

}  // namespace

PassTimeline timeline_of(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                         const Architecture& arch, const PassCost& cost, int threads) {
  TimelineRecorder recorder(timeline_intervals);
  if (cost.blocks) {
    block_cycles(arch, block_job(pass, result, plan), *cost.blocks, block_counts(pass, result, arch, threads),
                 packed_rows(pass, threads), &recorder);
  } else if (arch.dataflow == Dataflow::os_skip) {
    for (const std::vector<std::uint16_t>& nonzero : result.nonzero)
      recorder.shift(gemm_cycles(arch, shape_of(pass, result), pass.skip, nonzero, &recorder).cycles());
  }
  return recorder.result();
}

int sum_bits(const ElementType& a, const ElementType& b, const LayerPlan& plan, std::int64_t k) {
  if (a.is_integer()) return int_mac_acc_bits;
  if (a.is_fp32()) return formats::fp32.bits();
  return plan.accumulator().state_bits(product_span(a.format(), b.format()), k);
}

std::vector<std::uint32_t> packed_rows(const GemmPass& pass, int threads) {
  if (!pass.packed) return {};
  return nonzero_per_run(pass.first->encoded, pass.geometry.out[1], threads);
}

BlockCounts block_counts(const GemmPass& pass, const GemmPassResult& result, const Architecture& arch,
                         int threads) {
  if (!pass.skip || pass.first->encoded.type().is_fp32()) return {};
  const std::vector<PassPhase> phases = phases_of(pass.geometry, pass.pass);
  if (phases.size() == 1) return result.nonzero;
  BlockCounts counts;
  for (const PassPhase& phase : phases) {
    for (std::int64_t group = 0; group < pass.geometry.groups; ++group) {
      append_phase_nonzero_counts(pass.first->encoded, pass.geometry, phase, group, arch.window, threads,
                                  counts.emplace_back());
    }
  }
  return counts;
}

BlockJob block_job(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan) {
  const GemmShape shape = shape_of(pass, result);
  const bool fp32 = pass.first->encoded.type().is_fp32();
  return {.shape = pass.geometry,
          .pass = pass.pass,
          .outputs = {0, shape.m, 0, shape.n * pass.geometry.groups},
          .a_bits = shape.a_bits,
          .b_bits = shape.b_bits,
          .c_bits = shape.c_bits,
          .sum_bits = sum_bits(pass.first->encoded.type(), pass.second->encoded.type(), plan, shape.k),
          .skip = pass.skip && !fp32,
          .fp32 = fp32,
          .packed = pass.packed,
          .statistics = pass.statistics,
          .x_bits = pass.x_bits};
}

PassCost cost_of(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                 const Architecture& arch, int threads) {
  const GemmShape shape = shape_of(pass, result);
  const std::int64_t groups = pass.geometry.groups;
  PassCost cost;
  if (arch.in_blocks()) {
    cost = blocks_cost(pass, result, plan, arch, threads);
    cost.cost.dram_bytes_unique = static_cast<std::uint64_t>(bytes_as_lowered(shape, groups));
    return cost;
  }
  for (std::int64_t group = 0; group < groups; ++group) {
    cost.cost += group_cost(arch, shape, pass.skip, result.nonzero[group]);
    cost.dense_cycles += group_cost(arch, shape, false, {}).cycles();
  }
  cost.scheduled_macs = static_cast<std::uint64_t>(groups * shape.m * shape.n * shape.k);
  if (arch.dataflow == Dataflow::os_skip) {
    const BlockJob job = block_job(pass, result, plan);
    cost.cost.tensor_bytes = static_cast<std::uint64_t>(BlockPlan(arch, job, whole(job)).tensor_bytes());
  }
  return cost;
}

}  // namespace mantissa::replay
