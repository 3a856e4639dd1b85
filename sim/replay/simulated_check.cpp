#include "sim/replay/simulated_check.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/mac/stream_id.hpp"
#include "models/tensor/lowered.hpp"
#include "sim/machine/array_pool.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/replay/block_check.hpp"
#include "sim/replay/difference.hpp"
#include "sim/replay/sampled_tiles.hpp"
#include "sim/replay/simulated_norm.hpp"
#include "sim/replay/simulated_update.hpp"
#include "sim/support/config_file.hpp"

namespace mantissa::replay {
namespace {

// What the arrays of codes and of integers cannot do; empty: they can.
std::string obstacle(const Recipe& recipe) {
  if (recipe.weights.type.is_fp32()) return "it multiplies FP32";
  if (recipe.weights.type.is_integer()) return {};
  if (recipe.accumulator.kind != Accumulator::Kind::plain || recipe.accumulator.rounding != Rounding::rne())
    return "its accumulator is " + recipe.accumulator.name() + ", the array's rounds every sum to nearest";
  for (const TensorFormat* format : {&recipe.activations, &recipe.errors, &recipe.weight_gradients}) {
    if (format->via_fp16) return "it rounds twice (via_fp16)";
  }
  return {};
}

void check_recipe(const Recipe& recipe, const Architecture& arch, const std::string& engine) {
  if (arch.dataflow != Dataflow::os_skip) {
    throw std::invalid_argument("engine " + engine + " simulates dataflow os-skip, not " +
                                std::string(name_of(arch.dataflow)) + "; use --engine fast");
  }
  const std::string reason = obstacle(recipe);
  if (reason.empty()) return;
  std::string known;
  for (const std::string& name : shipped_configs(ConfigKind::recipe)) {
    if (obstacle(load_recipe(name).value).empty()) known += " " + name;
  }
  throw std::invalid_argument("engine " + engine + " cannot run recipe " + recipe.name + ": " + reason +
                              "; shipped recipes that it runs:" + known + "; --engine fast runs them all");
}

class SimulatedCheck : public CrossCheck {
 public:
  explicit SimulatedCheck(CheckOptions options) : options_(std::move(options)) {}

  std::uint64_t tiles_run() const override {
    return tiles_run_ + (blocks_ ? blocks_->tiles_run() : 0) + (norm_ ? norm_->groups_run() : 0) +
           (update_ ? update_->segments_run() : 0);
  }

  void prepare(const Recipe& recipe, const Architecture& arch, const MachineNeeds& needs) override {
    check_recipe(recipe, arch, options_.engine);
    arch_ = arch;
    if (arch.in_blocks()) {
      blocks_ = std::make_unique<BlockCheck>(arch, needs, options_);
    } else {
      pool_ = std::make_unique<ArrayPool>(
          arch, needs.arrays,
          AcceleratorOptions{
              .engine = parse_engine(options_.engine), .rtl_directory = options_.rtl, .wave = options_.wave});
    }
    if (arch.in_blocks() && arch.update_lanes > 0 && recipe.master_weights.format == formats::fp16)
      update_ = std::make_unique<SimulatedUpdate>(arch, recipe.master_weights.rounding, options_);
    if (needs.norm) norm_ = std::make_unique<SimulatedNorm>(arch, *needs.norm, options_);
  }

  void run(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan, const Step& step,
           const std::string& what) override {
    const ElementType a = pass.first->encoded.type();
    if (a.is_fp32()) return;  // a layer that the recipe leaves in FP32
    if (blocks_) return blocks_->run(pass, result, plan, step, what);
    const Job job{pass,
                  result,
                  plan,
                  step,
                  what,
                  array_formats(a, pass.second->encoded.type(), plan.accumulator(), result.drained),
                  output_codes(pass, result, plan, step)};
    for (const Piece& piece : pieces_of(result.sides, pass.geometry.groups, arch_, options_.sample))
      run_piece(job, piece);
  }

  void run_norm(const NormPass& pass, const NormResult& result, const std::string& what) override {
    if (!result.saved) return;  // standard batch norm has no unit
    norm_->run(pass, result, what);
  }

  void run_update(const UpdateValues& update, const std::string& what) override {
    if (update_) update_->run(update, what);
  }

 private:
  // One pass, and what it must give.
  struct Job {
    const GemmPass& pass;
    const GemmPassResult& result;
    const LayerPlan& plan;
    const Step& step;
    const std::string& what;
    ArrayFormats formats;
    std::vector<std::uint32_t> codes;  // [groups, m, n]
  };

  void run_piece(const Job& job, const Piece& piece) {
    const auto& [pass, result, plan, step, what, formats, codes] = job;
    const auto [m, n, k] = result.sides;
    const Rectangle& outputs = piece.outputs;
    const std::vector<float> bias = scaled_bias(pass);
    ArrayJob gemm{.m = outputs.rows(),
                  .n = outputs.cols(),
                  .k = k,
                  .a = lowered(pass.first->encoded, GemmSide::a, pass.geometry, pass.pass, piece.group,
                               {outputs.row0, outputs.row1, 0, k}, 1),
                  .b = lowered(pass.second->encoded, GemmSide::b, pass.geometry, pass.pass, piece.group,
                               {0, k, outputs.col0, outputs.col1}, 1),
                  .bias = {},
                  .c_scale = result.drain_scale,
                  .skip = pass.skip,
                  .draws = plan.draws(step, pass.pass, RandomUnit::drain_quantizer),
                  .first_tile = piece.first_tile};
    if (!bias.empty()) gemm.bias = std::span(bias).subspan(piece.group * n + outputs.col0, outputs.cols());
    const GemmCycles expected = expected_cycles(job, piece);
    gemm.most_cycles = patience(expected);
    const ArrayRun run = run_gemm(job, piece, gemm);
    tiles_run_ += run.cycles.tiles;
    compare_codes(job, piece, run);
    if (expected == run.cycles) return;
    throw Difference("MISMATCH between engine " + options_.engine + " and the closed form, " +
                     place(job, piece) + "\n" + cost_text(expected, run.cycles) + again(options_));
  }

  ArrayRun run_gemm(const Job& job, const Piece& piece, const ArrayJob& gemm) {
    try {
      return pool_->run(job.formats, gemm);
    } catch (const LockstepError& error) {
      throw Difference(lockstep_text(error.difference(), job.what, "GEMM") + again(options_));
    } catch (const UnitFailure& error) {
      throw Difference("MISMATCH between engine " + options_.engine + " and the golden model, " +
                       place(job, piece) + ": " + error.what() + "\n" + again(options_));
    }
  }

  static std::string place(const Job& job, const Piece& piece) {
    std::string pass(name_of(job.pass.pass));
    std::replace(pass.begin(), pass.end(), '_', ' ');
    return job.what + ", " + pass + ", group " + std::to_string(piece.group) + ", from tile " +
           std::to_string(piece.first_tile);
  }

  void compare_codes(const Job& job, const Piece& piece, const ArrayRun& run) const {
    const auto [m, n, k] = job.result.sides;
    const Rectangle& outputs = piece.outputs;
    for (std::int64_t row = 0; row < outputs.rows(); ++row) {
      for (std::int64_t col = 0; col < outputs.cols(); ++col) {
        const std::int64_t at = (piece.group * m + outputs.row0 + row) * n + outputs.col0 + col;
        const std::uint32_t expected = job.codes[at];
        const std::uint32_t actual = run.codes[row * outputs.cols() + col];
        if (expected == actual) continue;
        throw Difference("MISMATCH between engine " + options_.engine + " and the golden kernels, " +
                         place(job, piece) + ": output (" + std::to_string(outputs.row0 + row) + ", " +
                         std::to_string(outputs.col0 + col) + ") is code " + std::to_string(actual) +
                         ", expected " + std::to_string(expected) + "\n" + again(options_));
      }
    }
  }

  GemmCycles expected_cycles(const Job& job, const Piece& piece) const {
    GemmShape shape = shape_of(job.pass, job.result);
    const std::int64_t windows = (shape.k + arch_.window - 1) / arch_.window;
    std::span<const std::uint16_t> counts = job.result.nonzero[piece.group];
    if (!counts.empty())  // of integers none are counted
      counts = counts.subspan(piece.outputs.row0 * windows, piece.outputs.rows() * windows);
    shape.m = piece.outputs.rows();
    shape.n = piece.outputs.cols();
    return gemm_cycles(arch_, shape, job.pass.skip, counts);
  }

  CheckOptions options_;
  Architecture arch_;
  std::unique_ptr<ArrayPool> pool_;          // of the first machine
  std::unique_ptr<BlockCheck> blocks_;       // of the second
  std::unique_ptr<SimulatedNorm> norm_;      // where there are Range BN layers
  std::unique_ptr<SimulatedUpdate> update_;  // where there are lanes for FP16 masters
  std::uint64_t tiles_run_ = 0;
};

}  // namespace

std::unique_ptr<CrossCheck> make_cross_check(const CheckOptions& options) {
  if (parse_engine(options.engine) == Engine::fast) return nullptr;
  return std::make_unique<SimulatedCheck>(options);
}

}  // namespace mantissa::replay
