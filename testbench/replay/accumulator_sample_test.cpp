// What an accumulator loses, by hand and against sums that the test makes itself.
#include "sim/replay/accumulator_sample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "sim/replay/gemm_pass.hpp"

namespace mantissa::replay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The codes 8, 1 and 1 of E5M2.
const std::vector<std::uint8_t> eight_and_ones = {0x48, 0x3C, 0x3C};
const std::vector<std::uint8_t> ones = {0x3C, 0x3C, 0x3C};

AccumulatorError error_of_three(float sum) {
  AccumulatorSample sample({1, 1, 3}, 1, 1);
  sample.multiply_with(EncodedTensor::codes(ones, formats::e5m2, 5));  // a scale has no part in it
  const std::vector<float> sums = {sum};
  sample.add(EncodedTensor::codes(eight_and_ones, formats::e5m2, -7), 0, sums);
  return sample.error();
}

// 8 + 1 is a tie between 8 and 10 where numbers have three bits, and so 8 + 1 + 1 stays 8.
TEST(AccumulatorSample, LostOnesByHand) {
  EXPECT_EQ(error_of_three(8).elements, 1U);
  EXPECT_NEAR(error_of_three(8).sqnr_db, 20 * std::log10(10.0 / 2), 1e-12);
  EXPECT_EQ(error_of_three(10).sqnr_db, infinity);
  EXPECT_TRUE(std::isnan(error_of_three(static_cast<float>(infinity)).sqnr_db));
}

TEST(AccumulatorSample, IntegersStandForTheirNumbers) {
  const GemmlowpRange range{.bits = 8, .min = -1, .scale = 0.5F};
  const std::vector<std::uint16_t> a = {0, 2, 6};  // -1, 0, 2
  const std::vector<std::uint16_t> b = {4, 4, 8};  // 1, 1, 3
  AccumulatorSample sample({1, 1, 3}, 1, 1);
  sample.multiply_with(EncodedTensor::integers(b, range));
  const std::vector<float> sums = {4};  // 5 is right
  sample.add(EncodedTensor::integers(a, range), 0, sums);
  EXPECT_NEAR(sample.error().sqnr_db, 20 * std::log10(5.0), 1e-12);
}

TEST(AccumulatorSample, Fp32OperandsBringTheirReference) {
  AccumulatorSample sample({1, 2, 3}, 1, 1);
  const std::vector<double> reference = {3, 4};
  const std::vector<float> sums = {3, 4.5F};
  sample.add(reference, sums);
  EXPECT_EQ(sample.error().elements, 2U);
  EXPECT_NEAR(sample.error().sqnr_db, 10 * std::log10(25 / 0.25), 1e-12);
}

RecordedOperand operand(std::int64_t count, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(normal(engine));
  const Recipe recipe;
  LayerPlan plan(recipe, "operand", LayerKind::linear, 0, false);
  const OperandSite site{.format = {.type = formats::e4m3}};
  return {std::move(values), site, Step{.threads = 1}, plan};
}

std::vector<double> exact_row(const RecordedOperand& a, const RecordedOperand& b, const PassSides& sides,
                              std::int64_t row) {
  const ElementDecoder decode_a(a.encoded);
  const ElementDecoder decode_b(b.encoded);
  std::vector<double> numbers_of_b(static_cast<std::size_t>(sides.n * sides.k));
  for (std::int64_t i = 0; i < std::ssize(numbers_of_b); ++i)
    numbers_of_b[i] = decode_b(b.encoded.element(i));
  std::vector<double> exact(static_cast<std::size_t>(sides.n));
  for (std::int64_t col = 0; col < sides.n; ++col) {
    for (std::int64_t k = 0; k < sides.k; ++k)
      exact[col] += decode_a(a.encoded.element(row * sides.k + k)) * numbers_of_b[col * sides.k + k];
  }
  return exact;
}

// Linear layers forward: A is [batch, inputs], B the weights [outputs, inputs]. One is small, of one every
// 17th row is looked at, of one every eighth part of its 40 rows.
TEST(AccumulatorSample, OfAPassIsThatOfItsRows) {
  std::mt19937_64 engine(5);
  const struct {
    ConvShape shape;
    std::int64_t stride;
    const char* accumulator;
  } cases[] = {{{.batch = 20, .in_channels = 30, .out_channels = 7}, 1, "fp16"},
               {{.batch = 360, .in_channels = 250, .out_channels = 200}, 17, "bf16"},
               {{.batch = 40, .in_channels = 700, .out_channels = 600}, 5, "fp32"}};
  for (const auto& [shape, stride, accumulator] : cases) {
    Recipe recipe;
    recipe.activations = recipe.weights = recipe.errors = {.type = formats::e4m3};
    recipe.accumulator.format = Format::parse(accumulator);
    LayerPlan plan(recipe, "layer", LayerKind::linear, 2, false);
    const RecordedOperand x = operand(shape.batch * shape.in_channels, engine);
    const RecordedOperand w = operand(shape.out_channels * shape.in_channels, engine);
    // With a bias, which is none of the accumulator's business.
    std::vector<float> bias(static_cast<std::size_t>(shape.out_channels), 3.25F);
    GemmPass pass{.geometry = shape, .first = &x, .second = &w};
    const Step step{.rows = 16, .cols = 16, .threads = 1};
    const GemmPassResult result = run_gemm_pass(pass, plan, step, Architecture());
    double signal = 0;
    double noise = 0;
    std::uint64_t elements = 0;
    for (std::int64_t row = 0; row < shape.batch; row += stride) {
      const std::vector<double> exact = exact_row(x, w, result.sides, row);
      for (std::int64_t col = 0; col < result.sides.n; ++col) {
        const double difference = result.sums[row * result.sides.n + col] - exact[col];
        signal += exact[col] * exact[col];
        noise += difference * difference;
        ++elements;
      }
    }
    EXPECT_EQ(result.accumulator.elements, elements);
    EXPECT_NEAR(result.accumulator.sqnr_db, 10 * std::log10(signal / noise), 1e-9) << accumulator;
    EXPECT_GT(result.accumulator.sqnr_db, result.accuracy.sqnr_db) << accumulator;
    pass.bias = bias;
    const GemmPassResult biased = run_gemm_pass(pass, plan, step, Architecture());
    EXPECT_EQ(biased.accumulator.sqnr_db, result.accumulator.sqnr_db);
    EXPECT_EQ(
        run_gemm_pass(pass, plan, {.rows = 16, .cols = 16, .threads = 3}, Architecture()).accumulator.sqnr_db,
        result.accumulator.sqnr_db);
  }
}

TEST(AccumulatorSample, AnExactAccumulatorLosesNothing) {
  std::mt19937_64 engine(6);
  const ConvShape shape{.batch = 9, .in_channels = 50, .out_channels = 8};
  Recipe recipe;
  recipe.activations = recipe.weights = recipe.errors = {.type = formats::e4m3};
  recipe.accumulator = Accumulator::parse("kulisch", formats::fp32, Rounding::rne());
  LayerPlan plan(recipe, "layer", LayerKind::linear, 2, false);
  const RecordedOperand x = operand(shape.batch * shape.in_channels, engine);
  const RecordedOperand w = operand(shape.out_channels * shape.in_channels, engine);
  const GemmPass pass{.geometry = shape, .first = &x, .second = &w};
  EXPECT_EQ(run_gemm_pass(pass, plan, {.rows = 16, .cols = 16}, Architecture()).accumulator.sqnr_db,
            infinity);
}

}  // namespace
}  // namespace mantissa::replay
