// Encoding and decoding in every form against the scalar quantizers.
#include "models/tensor/encoded_tensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>

#include "models/quantize/quantizer.hpp"
#include "models/tensor/encode.hpp"

namespace mantissa {
namespace {

std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> values(count);
  for (float& x : values) x = engine() % 7 == 0 ? 0.0F : normal(engine);
  return values;
}

const DrawSource draws{.run_seed = 5, .stream = 77, .lanes = 8};

TEST(ElementType, TellsWidthAndName) {
  EXPECT_TRUE(ElementType().is_fp32());
  EXPECT_EQ(ElementType().name(), "fp32");
  EXPECT_EQ(ElementType().bits(), 32);
  EXPECT_TRUE(ElementType(formats::e4m3).is_code());
  EXPECT_EQ(ElementType(formats::e4m3).short_name(), "e4m3");
  const ElementType wide = ElementType::integer(16);
  EXPECT_TRUE(wide.is_integer());
  EXPECT_FALSE(wide.is_fp32() || wide.is_code());
  EXPECT_EQ(wide.bits(), 16);
  EXPECT_EQ(wide.name(), "uint16");
  EXPECT_EQ(wide.short_name(), "u16");
  EXPECT_NE(wide, ElementType());
  EXPECT_NE(wide, ElementType::integer(8));
}

TEST(EncodedTensor, Fp32IsLookedAt) {
  const std::vector<float> values = numbers(10, 1);
  EncodedTensor tensor;
  encode(values, {}, {}, tensor);
  std::vector<float> storage;
  EXPECT_EQ(tensor.numbers(storage).data(), values.data());
  EXPECT_EQ(tensor.size(), 10U);
  EXPECT_EQ(tensor.type(), ElementType());
  EXPECT_EQ(tensor.element(3), fp32_bits(values[3]));
}

TEST(EncodedTensor, CodesAreThoseOfTheScalarQuantizer) {
  const std::vector<float> values = numbers(1001, 2);
  for (const int scale : {0, 4}) {
    for (const Rounding& rounding : {Rounding::rne(), Rounding::sr(8)}) {
      const Encoding how{
          .type = formats::e4m3, .rounding = rounding, .overflow = Overflow::saturate, .scale = scale};
      std::vector<std::uint8_t> codes(values.size());
      const ConversionCounts met = quantize<std::uint8_t>(values, how.conversion(), draws, codes);
      std::vector<float> back(values.size());
      dequantize<std::uint8_t>(codes, how.conversion(), back);
      for (const bool decoded : {false, true}) {
        EncodedTensor tensor;
        ConversionCounts counts;
        encode(values, how, draws, tensor, {.decoded = decoded, .threads = 2, .counts = &counts});
        EXPECT_EQ(counts, met);
        EXPECT_EQ(tensor.type(), ElementType(formats::e4m3));
        EXPECT_EQ(tensor.scale(), scale);
        std::vector<float> storage;
        const std::span<const float> found = tensor.numbers(storage);
        for (std::size_t i = 0; i < values.size(); ++i) {
          ASSERT_EQ(tensor.element(static_cast<std::int64_t>(i)), codes[i]) << i << " decoded " << decoded;
          ASSERT_EQ(fp32_bits(found[i]), fp32_bits(back[i])) << i;
        }
        tensor.visit(Overloaded{[&](const EncodedTensor::Codes& form) {
                                  std::vector<std::uint8_t> held;
                                  const auto as_codes = form.as_codes(held);
                                  EXPECT_EQ(std::vector<std::uint8_t>(as_codes.begin(), as_codes.end()),
                                            codes);
                                  std::vector<float> of_codes;
                                  const auto as_values = form.as_values(of_codes);
                                  EXPECT_EQ(std::ldexp(as_values[7], -scale), back[7]);
                                },
                                [](const auto&) { FAIL() << "another form"; }});
        const ElementDecoder decoder(tensor);
        EXPECT_EQ(fp32_bits(decoder(codes[9])), fp32_bits(back[9]));
      }
    }
  }
}

TEST(EncodedTensor, NumbersOnTheGridAreLeftAlone) {
  std::vector<float> values = numbers(100, 3);
  const Encoding how{.type = formats::e5m2, .rounding = Rounding::sr(4)};
  EncodedTensor first;
  encode(values, how, draws, first, {.decoded = true});
  std::vector<float> storage;
  const std::vector<float> grid(first.numbers(storage).begin(), first.numbers(storage).end());
  EncodedTensor second;
  encode(grid, how, {.run_seed = 9}, second, {.decoded = true, .on = Grid{formats::e5m2, 0}});
  EXPECT_EQ(second.numbers(storage).data(), grid.data());
  // With a scale they have to be multiplied, and are still not rounded.
  Encoding scaled = how;
  scaled.scale = 2;
  encode(grid, scaled, {.run_seed = 9}, second, {.decoded = true, .on = Grid{formats::e5m2, 2}});
  second.visit(Overloaded{[&](const EncodedTensor::Codes& form) {
                            for (std::size_t i = 0; i < grid.size(); ++i)
                              ASSERT_EQ(form.values.get()[i], 4 * grid[i]);
                          },
                          [](const auto&) { FAIL() << "another form"; }});
}

TEST(EncodedTensor, IntegersAreThoseOfTheScalarQuantizer) {
  const std::vector<float> values = numbers(1001, 4);
  for (const bool exact_zero : {false, true}) {
    GemmlowpRange range = GemmlowpRange::of(values, 8);
    if (exact_zero) range = range.with_zero();
    std::vector<std::uint16_t> q(values.size());
    gemmlowp_quantize(values, range, Rounding::sr(16), draws, q);
    std::vector<float> back(values.size());
    gemmlowp_dequantize(q, range, back);
    EncodedTensor tensor;
    encode(values, {.type = ElementType::integer(8), .rounding = Rounding::sr(16), .exact_zero = exact_zero},
           draws, tensor, {.threads = 2});
    EXPECT_EQ(tensor.type(), ElementType::integer(8));
    std::vector<float> storage;
    const auto found = tensor.numbers(storage);
    const ElementDecoder decoder(tensor);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(tensor.element(static_cast<std::int64_t>(i)), q[i]);
      ASSERT_EQ(fp32_bits(found[i]), fp32_bits(back[i]));
      ASSERT_EQ(fp32_bits(decoder(q[i])), fp32_bits(back[i]));
    }
    tensor.visit(Overloaded{[&](const EncodedTensor::Integers& form) {
                              EXPECT_EQ(form.zero(), gemmlowp_quantize(0.0F, range, Rounding::rne()).q);
                              EXPECT_TRUE(!exact_zero || gemmlowp_dequantize(form.zero(), range) == 0.0F);
                            },
                            [](const auto&) { FAIL() << "another form"; }});
  }
}

TEST(EncodedTensor, ACopyKeepsWhatItOwns) {
  const std::vector<float> values = numbers(10, 5);
  auto tensor = std::make_unique<EncodedTensor>();
  encode(values, {.type = formats::e5m2}, {}, *tensor);
  const std::uint32_t third = tensor->element(3);
  const EncodedTensor copy = *tensor;
  tensor.reset();
  EXPECT_EQ(copy.element(3), third);
}

TEST(EncodedTensor, RefusesCodesThatDoNotFit) {
  EXPECT_THROW(EncodedTensor::codes({}, formats::fp16, 0), std::invalid_argument);
  const std::vector<float> values(3);
  EncodedTensor tensor;
  EXPECT_THROW(encode(values, {.type = formats::fp16}, {}, tensor), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
