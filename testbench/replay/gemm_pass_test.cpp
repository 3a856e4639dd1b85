// A pass by the fast kernels against the scalar array, tile by tile: codes, flags, cycles and suppressed
// products.
#include "sim/replay/gemm_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "models/array/mac_array.hpp"
#include "models/mac/stream_id.hpp"
#include "sim/replay/pass_cost.hpp"

namespace mantissa::replay {
namespace {

struct Case {
  ConvShape geometry;
  Format a;
  Format b;
  TensorFormat output;
  bool skip;
  double zeros;  // share in the first operand
};

std::vector<float> numbers(std::int64_t count, double zeros, double spread, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  std::vector<float> values(count);
  for (float& x : values) {
    const double magnitude = std::exp(spread * normal(engine));
    x = uniform(engine) < zeros ? 0.0F : static_cast<float>(uniform(engine) < 0.5 ? -magnitude : magnitude);
  }
  return values;
}

// A layer whose results drain so.
struct Setting {
  explicit Setting(const TensorFormat& output) {
    recipe.activations = recipe.weights = recipe.errors = {.type = formats::e5m2};
    recipe.activations = recipe.weight_gradients = output;
    if (output.type.bits() <= 8) recipe.errors = output;
  }
  Recipe recipe;
  LayerPlan plan{recipe, "layer", LayerKind::conv2d, 2, false};
};

Step some_step(const Architecture& arch, int threads) {
  return {.seed = 77, .number = 3, .rows = arch.rows, .cols = arch.cols, .threads = threads, .refresh = true};
}

RecordedOperand quantized(std::vector<float> values, const TensorFormat& format, int exponent = 0) {
  const Recipe recipe;
  LayerPlan plan(recipe, "operand", LayerKind::linear, 0, false);
  OperandSite site{.format = format};
  site.format.scale_exponent = exponent;
  return {std::move(values), site, Step{.threads = 2}, plan};
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), fp32_bits);
  return bits;
}

std::int64_t tensor_size(const ConvShape& g, Pass pass, bool first) {
  if (first) return pass == Pass::forward ? g.inputs() : g.outputs();
  return pass == Pass::weight_gradient ? g.inputs() : g.weights();
}

// Every tile of every group by the scalar model.
void expect_golden(const GemmPass& pass, const LayerPlan& plan, const Step& step, const Architecture& arch,
                   const GemmPassResult& result) {
  const auto [m, n, k] = result.sides;
  const auto& first = pass.first->encoded.as<EncodedTensor::Codes>();
  const auto& second = pass.second->encoded.as<EncodedTensor::Codes>();
  const std::vector<std::uint32_t> codes = output_codes(pass, result, plan, step);
  MacArray array{.skip_window = arch.skip_window(pass.skip),
                 .cols = arch.cols,
                 .a = first.format,
                 .b = second.format,
                 .drain = {.to = result.drained->type.format(),
                           .rounding = result.drained->rounding,
                           .overflow = result.drained->overflow,
                           .scale = result.drain_scale},
                 .pipe_latency = arch.pipe_latency};
  const DrawSource draws = plan.draws(step, pass.pass, RandomUnit::drain_quantizer);
  const std::vector<float> bias = scaled_bias(pass);
  std::int64_t tile_number = 0;
  std::uint64_t suppressed = 0;
  std::uint64_t compute = 0;
  ConversionCounts counts;
  for (std::int64_t group = 0; group < pass.geometry.groups; ++group) {
    std::vector<std::uint8_t> a(m * k);
    std::vector<std::uint8_t> b(k * n);
    lower_a<std::uint8_t>(pass.geometry, pass.pass, group, {0, m, 0, k}, first.codes.get(), 0, a, 1);
    lower_b<std::uint8_t>(pass.geometry, pass.pass, group, {0, k, 0, n}, second.codes.get(), 0, b, 1);
    for (std::int64_t row = 0; row < m; row += arch.rows) {
      for (std::int64_t col = 0; col < n; col += arch.cols, ++tile_number) {
        const std::int64_t rows = std::min<std::int64_t>(arch.rows, m - row);
        const std::int64_t cols = std::min<std::int64_t>(arch.cols, n - col);
        std::vector<std::uint8_t> tile_b(k * cols);
        for (std::int64_t i = 0; i < k; ++i)
          std::copy_n(b.begin() + i * n + col, cols, tile_b.begin() + i * cols);
        Tile tile{.m = rows, .n = cols, .k = k, .a = std::span(a).subspan(row * k, rows * k), .b = tile_b};
        if (!bias.empty()) tile.bias = std::span(bias).subspan(group * n + col, cols);
        std::vector<Lfsr> lanes;
        if (array.drain.rounding.stochastic()) lanes = drain_lanes(array, draws, tile_number);
        const TileResult golden = mac_array(array, tile, lanes);
        suppressed += golden.suppressed;
        compute += golden.compute_cycles();
        for (std::int64_t i = 0; i < rows; ++i) {
          for (std::int64_t j = 0; j < cols; ++j) {
            const Rounded& expected = golden.outputs[i * arch.cols + j];
            ASSERT_EQ(codes[(group * m + row + i) * n + col + j], expected.code)
                << "group " << group << " row " << row + i << " column " << col + j;
            const Conversion back{.from = result.drained->type.format(), .scale = -result.output_scale};
            ASSERT_EQ(fp32_bits(result.values[(group * m + row + i) * n + col + j]),
                      convert(expected.code, back).code);
            counts.overflow += expected.flags.overflow ? 1 : 0;
            counts.underflow += expected.flags.underflow ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_EQ(result.suppressed, suppressed);
  EXPECT_EQ(cost_of(pass, result, plan, arch, 1).cost.compute, compute);
  EXPECT_EQ(result.counts.overflow, counts.overflow);
  EXPECT_EQ(result.counts.underflow, counts.underflow);
}

TEST(GemmPass, EqualsTheScalarArrayTileByTile) {
  std::mt19937_64 engine(11);
  const TensorFormat e5m2_sr{.type = formats::e5m2, .rounding = Rounding::sr(16)};
  const TensorFormat e4m3_sat{.type = formats::e4m3, .overflow = Overflow::saturate};
  const TensorFormat half{.type = formats::fp16, .rounding = Rounding::sr(8)};
  const ConvShape conv{.batch = 2,
                       .in_channels = 3,
                       .out_channels = 5,
                       .in = {6, 5},
                       .out = {6, 5},
                       .kernel = {3, 3},
                       .padding = {1, 1}};
  const ConvShape strided{.batch = 1,
                          .in_channels = 4,
                          .out_channels = 6,
                          .groups = 2,
                          .in = {7, 7},
                          .out = {4, 4},
                          .kernel = {3, 3},
                          .stride = {2, 2},
                          .padding = {1, 1}};
  const ConvShape linear{.batch = 9, .in_channels = 21, .out_channels = 18};
  const Case cases[] = {
      {conv, formats::e5m2, formats::e5m2, {.type = formats::e5m2}, true, 0.5},
      {strided, formats::e5m2, formats::e4m3, e5m2_sr, true, 0.8},
      {linear, formats::e4m3, formats::e4m3, e4m3_sat, false, 0.2},
      {linear, formats::e5m2, formats::e5m2, half, true, 0.9},
  };
  Architecture arch;
  arch.rows = 4;
  arch.cols = 8;
  for (const Case& each : cases) {
    for (const Pass which : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) {
      // Wide enough that some codes of B overflow to Inf, which skipping then suppresses.
      if (which == Pass::input_gradient && each.output.type.bits() > 8) continue;  // errors have 8 bits
      Setting setting(each.output);
      LayerPlan& plan = setting.plan;
      plan.recorded = true;  // the scale of the results
      plan.registers.scale_of(result_role(which)) = -2;
      const RecordedOperand first = quantized(
          numbers(tensor_size(each.geometry, which, true), each.zeros, 2, engine), {.type = each.a}, -3);
      const RecordedOperand second =
          quantized(numbers(tensor_size(each.geometry, which, false), 0.1, 4, engine), {.type = each.b}, 1);
      std::vector<float> bias;
      if (which == Pass::forward) bias = numbers(each.geometry.out_channels, 0, 1, engine);
      const GemmPass pass{.geometry = each.geometry,
                          .pass = which,
                          .first = &first,
                          .second = &second,
                          .bias = bias,
                          .skip = each.skip};
      const Step step = some_step(arch, 2);
      const GemmPassResult result = run_gemm_pass(pass, plan, step, arch);
      ASSERT_NO_FATAL_FAILURE(expect_golden(pass, plan, step, arch, result));
      const GemmPassResult one = run_gemm_pass(pass, plan, some_step(arch, 1), arch);
      EXPECT_EQ(bits_of(one.values), bits_of(result.values));
      EXPECT_EQ(one.reference, result.reference);
      EXPECT_EQ(cost_of(pass, one, plan, arch, 1).cost, cost_of(pass, result, plan, arch, 2).cost);
    }
  }
}

// Whatever the formats: zeros of A add nothing, so leaving them out changes cycles and no bit.
TEST(GemmPass, SkippingChangesNoBitInAnyFormat) {
  std::mt19937_64 engine(12);
  const ConvShape linear{.batch = 33, .in_channels = 50, .out_channels = 19};
  Architecture arch;
  arch.rows = 8;
  arch.cols = 4;
  for (const char* name : {"e5m2", "e4m3", "e3m2", "e2m3", "e2m1", "e4m3:ieee", "e4m3:fnuz", "e5m2:fnuz",
                           "e3m4", "e6m1", "e5m0", "e4m3:bias=11"}) {
    const Format format = Format::parse(name);
    for (const Rounding rounding : {Rounding::rne(), Rounding::sr(16)}) {
      // Overflow saturates: an Inf in B is the one thing that a skipped zero would not have met.
      const TensorFormat saturating{.type = format, .overflow = Overflow::saturate};
      const RecordedOperand first = quantized(numbers(linear.inputs(), 0.7, 2, engine), saturating);
      const RecordedOperand second = quantized(numbers(linear.weights(), 0.1, 1, engine), saturating);
      Setting setting({.type = format, .rounding = rounding});
      LayerPlan& plan = setting.plan;
      GemmPass pass{.geometry = linear, .first = &first, .second = &second, .skip = true};
      const Step step = some_step(arch, 1);
      const GemmPassResult with = run_gemm_pass(pass, plan, step, arch);
      const GemmCycles with_cost = cost_of(pass, with, plan, arch, 1).cost;
      pass.skip = false;
      const GemmPassResult without = run_gemm_pass(pass, plan, step, arch);
      const GemmCycles without_cost = cost_of(pass, without, plan, arch, 1).cost;
      EXPECT_EQ(bits_of(with.values), bits_of(without.values)) << name;
      EXPECT_EQ(with.sums, without.sums) << name;
      EXPECT_GT(with_cost.skipped, 0U) << name;
      EXPECT_EQ(without_cost.skipped, 0U) << name;
      EXPECT_EQ(with_cost.macs + with_cost.skipped, without_cost.macs) << name;
      EXPECT_LT(with_cost.compute, without_cost.compute) << name;
    }
  }
}

}  // namespace
}  // namespace mantissa::replay
