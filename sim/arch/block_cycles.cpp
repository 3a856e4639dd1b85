#include "sim/arch/block_cycles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "models/sparsity/skip_window.hpp"
#include "sim/arch/block_timeline.hpp"
#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

struct Run {
  std::uint64_t cycles = 0;
  std::uint64_t taken = 0;  // elements of A
};

// How long the runs of a tile row take, and what they take. The same for all columns of a group.
class Runs {
 public:
  Runs(const Architecture& arch, const BlockPlan& plan, const BlockCounts& nonzero)
      : plan_(plan), nonzero_(nonzero), scheduler_(arch.skip_window(plan.job().skip)) {
    if (!plan.job().skip) return;
    const std::int64_t groups = plan.groups();
    for (std::size_t phase = 0; phase < plan.phases().size(); ++phase) {
      const BlockPlan::Phase& rows = plan.phases()[phase];
      for (std::int64_t group = 0; group < groups; ++group) check(rows, phase * groups + group);
    }
    known_.resize(static_cast<std::size_t>(plan.block_rows()) * plan.phases().size() *
                  static_cast<std::size_t>(plan.segments() * groups));
  }

  Run of(const BlockStep& step, std::size_t phase, std::int64_t tile_row, std::int64_t group) {
    if (!plan_.job().skip) {
      const BlockPlan::Rows& part = plan_.rows(step.block_row, phase);
      const std::int64_t rows = scheduler_.array().rows;
      const std::int64_t in_use = std::min(rows, part.end - part.begin - tile_row * rows);
      const std::int64_t length = step.k_units * plan_.phases()[phase].k_per_unit;
      return {dense(length), static_cast<std::uint64_t>(in_use * length)};
    }
    std::vector<Run>& known =
        known_[((step.block_row * std::ssize(plan_.phases()) + phase) * plan_.segments() + step.segment) *
                   plan_.groups() +
               group];
    if (known.empty()) known = scheduled(step, phase, group);
    return known[tile_row];
  }

 private:
  std::int64_t windows(std::int64_t k) const { return scheduler_.array().windows(k); }

  void check(const BlockPlan::Phase& phase, std::size_t place) const {
    const std::int64_t images = plan_.job().pass == Pass::weight_gradient ? 1 : plan_.job().shape.batch;
    const std::int64_t wanted =
        images * phase.geometry.rows_per_image() * windows(plan_.k_units() * phase.k_per_unit);
    const std::int64_t there = place < nonzero_.size() ? std::ssize(nonzero_[place]) : 0;
    if (there != wanted) {
      throw std::invalid_argument(
          fmt::format("a pass has {} non-zero counts in a phase of a group, not {}", wanted, there));
    }
  }

  std::uint64_t dense(std::int64_t length) {
    if (length != dense_length_) {
      dense_length_ = length;
      dense_ = scheduler_.dense(length, 0).cycles;
    }
    return dense_;
  }

  std::vector<Run> scheduled(const BlockStep& step, std::size_t phase, std::int64_t group) {
    const std::int64_t per_unit = plan_.phases()[phase].k_per_unit;
    const std::vector<std::uint16_t>& counts = nonzero_[phase * plan_.groups() + group];
    const std::int64_t stride = windows(plan_.k_units() * per_unit);
    const std::int64_t window = step.segment * plan_.mapping().k_block * per_unit / scheduler_.array().window;
    const std::int64_t rows = scheduler_.array().rows;
    const BlockPlan::Rows& part = plan_.rows(step.block_row, phase);
    std::vector<Run> runs;
    for (std::int64_t row = part.begin; row < part.end; row += rows) {
      const SkipSchedule run =
          scheduler_.schedule(step.k_units * per_unit, std::span(counts).subspan(row * stride + window),
                              std::min(rows, part.end - row), stride);
      runs.push_back({run.cycles, run.elements_taken});
    }
    return runs;
  }

  const BlockPlan& plan_;
  const BlockCounts& nonzero_;
  SkipScheduler scheduler_;
  std::vector<std::vector<Run>> known_;  // per block row, phase, segment, group: of its tile rows
  std::int64_t dense_length_ = -1;
  std::uint64_t dense_ = 0;
};

class Machine {
 public:
  Machine(const Architecture& arch, const BlockPlan& plan, const BlockCounts& nonzero, double share)
      : arch_(arch), plan_(plan), share_(share), runs_(arch, plan, nonzero) {
    const Rectangle block = plan.largest_block();
    const int place_bits = plan.job().sum_bits + (needs_x() ? plan.job().x_bits : 0);
    const std::int64_t bytes = packed_bytes(block.elements(), place_bits);
    result_.two_blocks = 2 * bytes <= arch.c_buffer_bytes;
    if (bytes > arch.c_buffer_bytes) {
      throw BufferTooSmall("c_buffer", arch.c_buffer_bytes, bytes,
                           fmt::format("a block of {} x {} sums of {} bits takes {} bytes", block.rows(),
                                       block.cols(), place_bits, bytes));
    }
  }

  BlockCost run() {
    const BlockJob& job = plan_.job();
    const std::vector<BlockStep>& steps = plan_.steps();
    const BlockLoads a = block_loads(plan_.a(), steps, arch_.a_buffer_bytes, "a_buffer");
    const BlockLoads b = block_loads(plan_.b(), steps, arch_.b_buffer_bytes, "b_buffer");
    result_.a_scope = a.scope;
    result_.b_scope = b.scope;
    const std::int64_t drain_cycles =
        job.statistics == DrainStatistics::none ? arch_.sum_cycles() : arch_.rows;
    BlockTimeline timeline(arch_, result_.two_blocks, drain_cycles, plan_.blocks());
    GemmCycles& cost = result_.cycles;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Rectangle block = plan_.outputs(steps[i].block);
      const std::int64_t x_bytes = needs_x() ? packed_bytes(block.elements(), job.x_bits) : 0;
      timeline.step({{a.bytes[i], a.early[i]}, {b.bytes[i], b.early[i]}, steps[i].opens_block, x_bytes});
      tiles(steps[i], timeline);
      if (i + 1 < steps.size() && !steps[i + 1].opens_block) continue;
      const std::int64_t sets = ceil_div(block.rows(), arch_.rows) * ceil_div(block.cols(), arch_.cols);
      timeline.close_block(sets, packed_bytes(block.elements(), job.c_bits));
      cost.tiles += static_cast<std::uint64_t>(sets);
    }
    timeline.finish(cost);
    cost.steps = steps.size();
    cost.drained = static_cast<std::uint64_t>(job.outputs.elements());
    cost.tensor_bytes = static_cast<std::uint64_t>(plan_.tensor_bytes());
    const std::uint64_t sums = cost.sums_stored + cost.sums_loaded + cost.drained;
    const std::uint64_t unpacked = static_cast<std::uint64_t>(
        a.stored - std::accumulate(a.bytes.begin(), a.bytes.end(), std::int64_t{0}));
    cost.sram_bytes = cost.dram_bytes + unpacked + bytes(cost.a_taken, job.a_bits) +
                      bytes(cost.b_staged, job.b_bits) + bytes(sums, job.sum_bits) +
                      bytes(needs_x() ? cost.drained : 0, job.x_bits) + bytes(cost.drained, job.c_bits);
    cost.skipped = static_cast<std::uint64_t>(plan_.scheduled_macs()) - cost.macs;
    check_physics(timeline.end());
    return result_;
  }

 private:
  bool needs_x() const { return plan_.job().statistics == DrainStatistics::backward; }
  static std::uint64_t bytes(std::uint64_t elements, int bits) {
    return (elements * static_cast<std::uint64_t>(bits) + 7) / 8;
  }

  void tiles(const BlockStep& step, BlockTimeline& timeline) {
    if (step.empty()) return;
    const Rectangle block = plan_.outputs(step.block);
    const std::size_t phases = plan_.phases().size();
    std::int64_t tile_rows = 0;
    for (std::size_t phase = 0; phase < phases; ++phase) {
      const BlockPlan::Rows& part = plan_.rows(step.block_row, phase);
      tile_rows += ceil_div(part.end - part.begin, arch_.rows);
    }
    const bool alone = tile_rows == 1 && block.cols() <= arch_.cols;
    const bool exchange = step.closes_block || !alone;
    GemmCycles& cost = result_.cycles;
    for (std::size_t phase = 0; phase < phases; ++phase) {
      const BlockPlan::Rows& part = plan_.rows(step.block_row, phase);
      const std::int64_t length = step.k_units * plan_.phases()[phase].k_per_unit;
      for (std::int64_t row = 0; part.begin + row * arch_.rows < part.end; ++row) {
        const std::int64_t rows =
            std::min<std::int64_t>(arch_.rows, part.end - part.begin - row * arch_.rows);
        for (std::int64_t col = block.col0; col < block.col1; col += arch_.cols) {
          const std::int64_t end = std::min(col + arch_.cols, block.col1);
          std::uint64_t cycles = 0;
          for (std::int64_t first = col; first < end;) {
            const std::int64_t group = first / plan_.columns_per_group();
            const std::int64_t group_end = std::min(end, (group + 1) * plan_.columns_per_group());
            const Run run = run_of(step, phase, row, group, {rows, length, group_end - first});
            cycles += run.cycles;
            cost.a_taken += run.taken;
            cost.b_staged += static_cast<std::uint64_t>(length * (group_end - first));
            cost.macs += run.taken * static_cast<std::uint64_t>(group_end - first);
            first = group_end;
          }
          timeline.tile(cycles, exchange);
          const auto sums = static_cast<std::uint64_t>(rows * (end - col));
          if (exchange) cost.sums_stored += sums;
          if (step.segment > 0 && !alone) cost.sums_loaded += sums;
        }
      }
    }
  }

  // Of one group in one tile.
  struct RunSize {
    std::int64_t rows = 0, length = 0, cols = 0;
  };
  Run run_of(const BlockStep& step, std::size_t phase, std::int64_t tile_row, std::int64_t group,
             const RunSize& size) {
    if (plan_.job().fp32) {
      return {static_cast<std::uint64_t>(
                  ceil_div(size.rows * size.cols * size.length, arch_.fp32_macs_per_cycle)),
              static_cast<std::uint64_t>(size.rows * size.length)};
    }
    Run run = runs_.of(step, phase, tile_row, group);
    if (share_ < 1) run.cycles = guess(run.cycles, size.length);
    return run;
  }

  // No run is shorter than one cycle per window.
  std::uint64_t guess(std::uint64_t dense, std::int64_t length) const {
    const auto least = static_cast<std::uint64_t>(ceil_div(length, arch_.window));
    return std::max(least, static_cast<std::uint64_t>(std::llround(share_ * static_cast<double>(dense))));
  }

  // What no machine can do better than.
  void check_physics(std::uint64_t end) const {
    const GemmCycles& cost = result_.cycles;
    const auto moved = static_cast<std::int64_t>(cost.dram_bytes);
    const bool time = cost.cycles() == end && end >= static_cast<std::uint64_t>(arch_.data_cycles(moved));
    const bool work = cost.macs <= static_cast<std::uint64_t>(plan_.scheduled_macs());
    const std::uint64_t per_cycle = plan_.job().fp32 ? static_cast<std::uint64_t>(arch_.fp32_macs_per_cycle)
                                                     : static_cast<std::uint64_t>(arch_.rows) * arch_.cols;
    if (share_ < 1 ||
        (time && work && cost.macs <= cost.compute * per_cycle && cost.dram_bytes >= cost.tensor_bytes))
      return;
    throw std::logic_error("the cost of a pass on the second machine does not add up");
  }

  const Architecture& arch_;
  const BlockPlan& plan_;
  double share_;
  Runs runs_;
  BlockCost result_;
};

BlockCost run(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
              const BlockCounts& nonzero, double share, std::span<const std::uint32_t> row_nonzero) {
  arch.check();
  const BlockPlan plan(arch, job, mapping, row_nonzero);
  return Machine(arch, plan, nonzero, share).run();
}

}  // namespace

BlockCost block_cycles(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                       const BlockCounts& nonzero, std::span<const std::uint32_t> row_nonzero) {
  if (job.skip && job.fp32) throw std::invalid_argument("a layer of FP32 operands skips nothing");
  return run(arch, job, mapping, nonzero, 1, row_nonzero);
}

BlockCost estimated_block_cycles(const Architecture& arch, const BlockJob& job, const BlockMapping& mapping,
                                 double share, std::span<const std::uint32_t> row_nonzero) {
  BlockJob dense = job;
  dense.skip = false;
  return run(arch, dense, mapping, {}, share, row_nonzero);
}

}  // namespace mantissa
