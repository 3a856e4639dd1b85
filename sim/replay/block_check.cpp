#include "sim/replay/block_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/mac/stream_id.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/replay/block_check_job.hpp"
#include "sim/replay/difference.hpp"
#include "sim/replay/pass_cost.hpp"
#include "sim/replay/sampled_tiles.hpp"

namespace mantissa::replay {

BlockCheck::BlockCheck(const Architecture& arch, const MachineNeeds& needs, CheckOptions options)
    : arch_(arch), options_(std::move(options)) {
  arch_.check_simulated();
  DrainRoom room;
  if (needs.drained) room = {needs.drained->channels, needs.drained->elements, needs.drained_parts};
  for (const ArrayFormats& formats : needs.arrays) {
    machines_.push_back(
        std::make_unique<BlockAccelerator>(arch, formats,
                                           AcceleratorOptions{.engine = parse_engine(options_.engine),
                                                              .rtl_directory = options_.rtl,
                                                              .wave = options_.wave,
                                                              .drain_statistics = room}));
  }
}

BlockAccelerator& BlockCheck::machine(const ArrayFormats& formats) const {
  const auto found = std::find_if(machines_.begin(), machines_.end(),
                                  [&](const auto& each) { return each->formats() == formats; });
  if (found == machines_.end()) throw std::logic_error("no machine was made for the formats of a pass");
  return **found;
}

void BlockCheck::run(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan,
                     const Step& step, const std::string& what) {
  const Check check{pass,
                    result,
                    plan,
                    step,
                    what,
                    array_formats(pass.first->encoded.type(), pass.second->encoded.type(), plan.accumulator(),
                                  result.drained),
                    output_codes(pass, result, plan, step),
                    block_counts(pass, result, arch_, step.threads),
                    packed_rows(pass, step.threads),
                    scaled_bias(pass)};
  const auto [m, n, k] = result.sides;
  const std::vector<Piece> pieces = pieces_of(result.sides, pass.geometry.groups, arch_, options_.sample);
  if (pieces.front().outputs.elements() == m * n) {
    run_part(check, {0, m, 0, n * pass.geometry.groups});
    return;
  }
  for (const Piece& piece : pieces) {
    Rectangle outputs = piece.outputs;
    outputs.col0 += piece.group * n;
    outputs.col1 += piece.group * n;
    run_part(check, outputs);
  }
}

void BlockCheck::run_part(const Check& check, const Rectangle& outputs) {
  const auto& [pass, result, plan, step, what, formats, codes, counts, packed_rows, bias] = check;
  BlockJob job = block_job(pass, result, plan);
  job.outputs = outputs;
  const MappedCost expected = mapped_cost(arch_, job, counts, packed_rows);
  const BlockArrayJob array_job{.shape = pass.geometry,
                                .pass = pass.pass,
                                .mapping = expected.mapping,
                                .outputs = outputs,
                                .first = pass.first->encoded,
                                .second = pass.second->encoded,
                                .bias = bias,
                                .c_scale = result.drain_scale,
                                .skip = job.skip,
                                .packed = job.packed,
                                .draws = plan.draws(step, pass.pass, RandomUnit::drain_quantizer),
                                .statistics = statistics_job(check, outputs),
                                .most_cycles = patience(expected.cost.cycles)};
  const std::string place = fmt::format("{}, {}, outputs {}..{} x {}..{}", what, name_of(pass.pass),
                                        outputs.row0, outputs.row1, outputs.col0, outputs.col1);
  ArrayRun run;
  try {
    run = machine(formats).run(array_job);
  } catch (const LockstepError& error) {
    throw Difference(lockstep_text(error.difference(), what, "pass") + again(options_));
  } catch (const UnitFailure& error) {
    throw Difference(fmt::format("MISMATCH between engine {} and the golden model, {}: {}\n{}",
                                 options_.engine, place, error.what(), again(options_)));
  }
  tiles_run_ += run.cycles.tiles;
  const auto [m, n, k] = result.sides;
  for (std::int64_t row = outputs.row0; row < outputs.row1; ++row) {
    for (std::int64_t col = outputs.col0; col < outputs.col1; ++col) {
      const std::uint32_t wanted = codes[(col / n * m + row) * n + col % n];
      const std::uint32_t actual = run.codes[(row - outputs.row0) * outputs.cols() + col - outputs.col0];
      if (wanted == actual) continue;
      throw Difference(
          fmt::format("MISMATCH between engine {} and the golden kernels, {}: output ({}, {}) is code {}, "
                      "expected {}\n{}",
                      options_.engine, place, row, col, actual, wanted, again(options_)));
    }
  }
  compare_statistics(check, array_job, run.statistics, place);
  if (expected.cost.cycles == run.cycles) return;
  throw Difference(fmt::format("MISMATCH between engine {} and the closed form, {}, mapping {}\n{}{}",
                               options_.engine, place, text_of(expected),
                               cost_text(expected.cost.cycles, run.cycles), again(options_)));
}

}  // namespace mantissa::replay
