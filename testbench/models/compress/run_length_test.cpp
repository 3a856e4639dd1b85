// The run-length coder against an independent reference program, round trips, and messages it must refuse.
#include "models/compress/run_length.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "testbench/support/arith_cases.hpp"

namespace mantissa {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& hex) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

TEST(RunLength, EqualsReferenceProgram) {
  ASSERT_EQ(test::arith_cases("rle").size(), 14U);
  for (const auto& one : test::arith_cases("rle")) {
    std::vector<float> values(one["zeros_then"].get<std::size_t>(), 0.0F);
    if (one["survivor_at_end"].get<bool>()) values.push_back(1.0F);
    const std::vector<std::uint8_t> expected = bytes_of(one["bytes"]);
    const auto threshold = std::bit_cast<float>(test::hex32(one["threshold"]));
    EXPECT_EQ(run_length_encode(values, threshold), expected) << one;
    EXPECT_EQ(run_length_decode(expected, values.size()), values) << one;
  }
}

TEST(RunLength, RoundTripAcrossTheCounterLimit) {
  for (const std::size_t run : {0, 1, 65534, 65535, 65536, 65537, 131071, 131072, 131073, 200000}) {
    std::vector<float> values(run, 0.0F);
    values.push_back(-2.5F);
    values.insert(values.end(), run, 0.0F);
    values.push_back(3.0F);
    values.insert(values.end(), 70000, 0.0F);
    const std::vector<std::uint8_t> message = run_length_encode(values, 1.0F);
    // A filler covers 65536 elements; the zeros at the end need one filler and drop the rest.
    const std::size_t fillers = 2 * (run / 65536) + 1;
    EXPECT_EQ(message.size(), (2 + fillers) * RunLengthEntry::bytes) << run;
    EXPECT_EQ(run_length_decode(message, values.size()), values) << run;
  }
}

TEST(RunLength, RoundTripOfRandomTensorsKeepsWhatReachesTheThreshold) {
  std::mt19937 engine(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> values(engine() % 300);
    for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    const auto threshold = std::bit_cast<float>(static_cast<std::uint32_t>(engine() & 0x7F7FFFFFU));
    const std::vector<std::uint8_t> message = run_length_encode(values, threshold);
    const std::vector<float> decoded = run_length_decode(message, values.size());
    std::size_t survivors = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool kept = !(std::abs(values[i]) < threshold);  // a NaN compares false: it survives
      survivors += kept ? 1 : 0;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(decoded[i]),
                kept ? std::bit_cast<std::uint32_t>(values[i]) : 0U);
    }
    ASSERT_EQ(message.size(), survivors * 6);
  }
}

TEST(RunLength, SignOfThresholdIsIgnoredAndThresholdItselfSurvives) {
  const std::vector<float> values{0.5F, -0.5F, 0.25F, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(run_length_encode(values, 0.5F), bytes_of("00000000003f"
                                                      "0000000000bf"
                                                      "01000000807f"));
  EXPECT_EQ(run_length_encode(values, -0.5F), run_length_encode(values, 0.5F));
}

TEST(RunLength, DecoderRefusesAsAWhole) {
  const std::vector<std::uint8_t> message = bytes_of(
      "01000000803f"
      "020000000040");  // elements 1 and 4
  EXPECT_EQ(run_length_decode(message, 5), (std::vector<float>{0, 1, 0, 0, 2}));
  EXPECT_EQ(run_length_decode(message, 7), (std::vector<float>{0, 1, 0, 0, 2, 0, 0}));
  EXPECT_THROW(run_length_decode(message, 4), std::invalid_argument);
  EXPECT_THROW(run_length_decode(message, 0), std::invalid_argument);
  for (std::size_t bytes = 1; bytes < 12; ++bytes) {
    if (bytes == 6) continue;
    EXPECT_THROW(run_length_decode(std::span(message).first(bytes), 100), std::invalid_argument) << bytes;
  }
  // A filler alone needs its 65536 elements.
  const std::vector<std::uint8_t> filler = bytes_of("ffff00000000");
  EXPECT_THROW(run_length_decode(filler, 65535), std::invalid_argument);
  EXPECT_EQ(run_length_decode(filler, 65536), std::vector<float>(65536, 0.0F));
  EXPECT_TRUE(run_length_decode({}, 0).empty());
}

}  // namespace
}  // namespace mantissa
