#include "sim/trace/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "testbench/trace/file_bytes.hpp"

namespace mantissa::test {
namespace {

trace::Statistics statistics_of(const std::vector<float>& values) {
  const std::string bytes = trace_bytes("[]", {{"x", {static_cast<std::int64_t>(values.size())}, values}});
  const trace::Safetensors file = open_bytes(bytes);
  return trace::statistics_of(file, file.tensors()[0]);
}

TEST(Statistics, OfAFewNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  const trace::Statistics s = statistics_of({0, -0.0F, 3, -1, inf, std::nanf(""), 0.5F, 1.5F});
  EXPECT_EQ(s.elements, 8U);
  EXPECT_EQ(s.zeros, 2U);
  EXPECT_EQ(s.nonfinite, 2U);
  EXPECT_EQ(s.smallest, 0.5F);
  EXPECT_EQ(s.largest, 3.F);
  EXPECT_NEAR(s.mean, 4.0 / 6, 1e-15);  // zeros count
  EXPECT_NEAR(s.deviation, std::sqrt((9 + 1 + 0.25 + 2.25) / 6 - (4.0 / 6) * (4.0 / 6)), 1e-15);
}

TEST(Statistics, OfNothing) {
  for (const std::vector<float>& values : {std::vector<float>{}, std::vector<float>{0, 0}}) {
    const trace::Statistics s = statistics_of(values);
    EXPECT_EQ(s.smallest, 0.F);
    EXPECT_EQ(s.largest, 0.F);
    EXPECT_EQ(s.mean, 0);
    EXPECT_EQ(s.deviation, 0);
  }
}

TEST(Statistics, AcrossChunksWithoutCancellation) {
  // A mean that is large beside the deviation, over several chunks that differ.
  std::vector<float> values(100000);
  std::mt19937_64 engine(3);
  std::normal_distribution<float> normal(10000.F, 1.F);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = normal(engine) + (i < 50000 ? 0.F : 8.F);
  long double sum = 0;
  for (const float value : values) sum += value;
  const long double mean = sum / values.size();
  long double squares = 0;
  for (const float value : values) squares += (value - mean) * (value - mean);
  const trace::Statistics s = statistics_of(values);
  EXPECT_NEAR(s.mean, static_cast<double>(mean), 1e-9);
  EXPECT_NEAR(s.deviation, static_cast<double>(std::sqrt(squares / values.size())), 1e-9);
}

}  // namespace
}  // namespace mantissa::test
