#include "sim/replay/simulated_engine.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "models/mac/stream_id.hpp"
#include "sim/machine/array_pool.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/replay/engine_difference.hpp"
#include "sim/replay/simulated_norm.hpp"
#include "sim/support/config_file.hpp"

namespace mantissa::replay {
namespace {

// The golden kernels alone.
class FastEngine : public Engine {};

// What the arrays of codes and of integers cannot do; empty: they can.
std::string obstacle(const Recipe& recipe) {
  if (recipe.arithmetic == Arithmetic::fp32) return "it multiplies FP32";
  if (recipe.arithmetic == Arithmetic::gemmlowp) return {};
  if (recipe.accumulator.kind != Accumulator::Kind::plain || recipe.accumulator.rounding != Rounding::rne())
    return "its accumulator is " + recipe.accumulator.name() + ", the array's rounds every sum to nearest";
  for (const TensorFormat* how : {&recipe.activations, &recipe.errors, &recipe.weight_gradients}) {
    if (how->via_fp16) return "it rounds twice (via_fp16)";
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
  throw std::invalid_argument("engine " + engine + " does not have recipe " + recipe.name + ": " + reason +
                              "; of the shipped recipes it has" + known + ". --engine fast has them all");
}

// A GEMM's operands, as the array takes them: codes or integers.
struct LoweredOperands {
  std::vector<std::uint8_t> a;
  std::vector<std::uint8_t> b;
  std::vector<std::uint16_t> integer_a;
  std::vector<std::uint16_t> integer_b;
};

template <class Element>
void lower(const GemmPass& pass, std::int64_t group, const Rectangle& outputs, std::int64_t k,
           std::span<const Element> first, Element first_zero, std::vector<Element>& a,
           std::span<const Element> second, Element second_zero, std::vector<Element>& b) {
  a.resize(outputs.rows() * k);
  b.resize(k * outputs.cols());
  lower_a<Element>(pass.geometry, pass.pass, group, {outputs.row0, outputs.row1, 0, k}, first, first_zero, a,
                   1);
  lower_b<Element>(pass.geometry, pass.pass, group, {0, k, outputs.col0, outputs.col1}, second, second_zero,
                   b, 1);
}

// A part of a pass that runs as one GEMM: a whole group, or one tile.
struct Piece {
  std::int64_t group = 0;
  std::int64_t first_tile = 0;
  Rectangle outputs;
};

class SimulatedEngine : public Engine {
 public:
  explicit SimulatedEngine(EngineOptions options) : options_(std::move(options)) {}

  std::string name() const override { return options_.name; }
  std::uint64_t tiles_run() const override { return tiles_run_ + (norm_ ? norm_->groups_run() : 0); }

  void prepare(const Recipe& recipe, const Architecture& arch, const MachineNeeds& needs) override {
    check_recipe(recipe, arch, options_.name);
    arch_ = arch;
    pool_ = std::make_unique<ArrayPool>(
        arch, needs.arrays,
        AcceleratorOptions{
            .engine = parse_engine(options_.name), .rtl_directory = options_.rtl, .wave = options_.wave});
    if (needs.norm) norm_ = std::make_unique<SimulatedNorm>(arch, *needs.norm, options_);
  }

  void run(const GemmPass& pass, const GemmPassResult& result, const std::string& what) override {
    const std::optional<ArrayFormats> formats = array_formats(pass);
    if (!formats) return;  // a layer that the recipe leaves in FP32
    for (const Piece& piece : pieces(pass, result.sides)) run_piece(pass, result, *formats, piece, what);
  }

  void run_norm(const NormPass& pass, const NormResult& result, const std::string& what) override {
    if (!result.saved) return;  // standard batch norm has no unit
    norm_->run(pass, result, what);
  }

 private:
  std::int64_t tile_rows(const PassSides& sides) const { return (sides.m + arch_.rows - 1) / arch_.rows; }
  std::int64_t tile_cols(const PassSides& sides) const { return (sides.n + arch_.cols - 1) / arch_.cols; }

  std::vector<Piece> pieces(const GemmPass& pass, const PassSides& sides) const {
    const std::int64_t in_group = tile_rows(sides) * tile_cols(sides);
    const std::int64_t tiles = in_group * pass.geometry.groups;
    std::vector<Piece> result;
    if (options_.sample == 0 || std::max<std::int64_t>(4, options_.sample) >= tiles) {
      for (std::int64_t group = 0; group < pass.geometry.groups; ++group)
        result.push_back({group, group * in_group, {0, sides.m, 0, sides.n}});
      return result;
    }
    for (const std::int64_t tile : sampled(sides, tiles)) {
      const std::int64_t row = tile % in_group / tile_cols(sides) * arch_.rows;
      const std::int64_t col = tile % tile_cols(sides) * arch_.cols;
      result.push_back(
          {tile / in_group,
           tile,
           {row, std::min(row + arch_.rows, sides.m), col, std::min(col + arch_.cols, sides.n)}});
    }
    return result;
  }

  // The first and the last tile of each side, among them all that are partial; then evenly spaced ones. K is
  // cut in the same way in all of them.
  std::set<std::int64_t> sampled(const PassSides& sides, std::int64_t tiles) const {
    const std::int64_t last_col = tile_cols(sides) - 1;
    const std::int64_t last_row = (tile_rows(sides) - 1) * tile_cols(sides);
    // Half of them in the last group.
    const std::int64_t last_group = tiles - tile_rows(sides) * tile_cols(sides);
    std::set<std::int64_t> chosen = {0, last_col, last_group + last_row, tiles - 1};
    const auto wanted = std::max<std::int64_t>(4, static_cast<std::int64_t>(options_.sample));
    for (std::int64_t i = 0; static_cast<std::int64_t>(chosen.size()) < wanted && i < tiles; ++i) {
      chosen.insert(i < wanted ? i * tiles / wanted : i);
    }
    return chosen;
  }

  static LoweredOperands lower_operands(const GemmPass& pass, const Piece& piece, std::int64_t k) {
    const Operand& x = *pass.first;
    const Operand& y = *pass.second;
    LoweredOperands lowered;
    if (x.arithmetic == Arithmetic::gemmlowp) {
      lower<std::uint16_t>(pass, piece.group, piece.outputs, k, x.integers, x.integer_zero(),
                           lowered.integer_a, y.integers, y.integer_zero(), lowered.integer_b);
    } else {
      lower<std::uint8_t>(pass, piece.group, piece.outputs, k, x.codes, 0, lowered.a, y.codes, 0, lowered.b);
    }
    return lowered;
  }

  void run_piece(const GemmPass& pass, const GemmPassResult& result, const ArrayFormats& formats,
                 const Piece& piece, const std::string& what) {
    const auto [m, n, k] = result.sides;
    const Rectangle& outputs = piece.outputs;
    const LoweredOperands lowered = lower_operands(pass, piece, k);
    const std::vector<float> bias = scaled_bias(pass);
    ArrayJob job{.m = outputs.rows(),
                 .n = outputs.cols(),
                 .k = k,
                 .a = lowered.a,
                 .b = lowered.b,
                 .bias = {},
                 .c_scale = result.drain_scale,
                 .skip = pass.skip,
                 .draws = draws_of(pass, arch_, RandomUnit::drain_quantizer),
                 .first_tile = piece.first_tile};
    if (formats.integers) {
      job.integer_a = pass.first->matrix(lowered.integer_a);
      job.integer_b = pass.second->matrix(lowered.integer_b);
    }
    if (!bias.empty()) job.bias = std::span(bias).subspan(piece.group * n + outputs.col0, outputs.cols());
    const ArrayRun run = run_job(formats, job, what);
    tiles_run_ += run.cycles.tiles;
    compare_codes(pass, result, piece, run, what);
    compare_cycles(pass, result, piece, run, what);
  }

  ArrayRun run_job(const ArrayFormats& formats, const ArrayJob& job, const std::string& what) {
    try {
      return pool_->run(formats, job);
    } catch (const LockstepError& error) {
      throw Difference(lockstep_text(error.difference(), what, "GEMM") + again(options_));
    }
  }

  std::string place(const GemmPass& pass, const Piece& piece, const std::string& what) const {
    static constexpr const char* names[] = {"forward", "input gradient", "weight gradient", "update"};
    return what + ", " + names[static_cast<int>(pass.pass)] + ", group " + std::to_string(piece.group) +
           ", from tile " + std::to_string(piece.first_tile);
  }

  void compare_codes(const GemmPass& pass, const GemmPassResult& result, const Piece& piece,
                     const ArrayRun& run, const std::string& what) const {
    const auto [m, n, k] = result.sides;
    const Rectangle& outputs = piece.outputs;
    for (std::int64_t row = 0; row < outputs.rows(); ++row) {
      for (std::int64_t col = 0; col < outputs.cols(); ++col) {
        const std::int64_t at = (piece.group * m + outputs.row0 + row) * n + outputs.col0 + col;
        const std::uint32_t expected = result.codes.empty() ? fp32_bits(result.sums[at]) : result.codes[at];
        const std::uint32_t actual = run.codes[row * outputs.cols() + col];
        if (expected == actual) continue;
        throw Difference("MISMATCH between engine " + options_.name + " and the golden kernels, " +
                         place(pass, piece, what) + ": output (" + std::to_string(outputs.row0 + row) + ", " +
                         std::to_string(outputs.col0 + col) + ") is code " + std::to_string(actual) +
                         ", expected " + std::to_string(expected) + "\n" + again(options_));
      }
    }
  }

  void compare_cycles(const GemmPass& pass, const GemmPassResult& result, const Piece& piece,
                      const ArrayRun& run, const std::string& what) const {
    GemmShape shape = shape_of(pass, result.sides);
    const std::int64_t windows = (shape.k + arch_.window - 1) / arch_.window;
    std::span<const std::uint16_t> counts = result.nonzero[piece.group];
    if (!counts.empty())  // of integers none are counted
      counts = counts.subspan(piece.outputs.row0 * windows, piece.outputs.rows() * windows);
    shape.m = piece.outputs.rows();
    shape.n = piece.outputs.cols();
    const GemmCycles expected = gemm_cycles(arch_, shape, pass.skip, counts);
    const GemmCycles& actual = run.cycles;
    if (expected == actual) return;
    throw Difference("MISMATCH between engine " + options_.name + " and the closed form, " +
                     place(pass, piece, what) + "\n" + cost_text(expected, actual) + again(options_));
  }

  EngineOptions options_;
  Architecture arch_;
  std::unique_ptr<ArrayPool> pool_;
  std::unique_ptr<SimulatedNorm> norm_;  // where there are Range BN layers
  std::uint64_t tiles_run_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineOptions& options) {
  if (parse_engine(options.name) == mantissa::Engine::fast) return std::make_unique<FastEngine>();
  return std::make_unique<SimulatedEngine>(options);
}

}  // namespace mantissa::replay
