// Presets against results that GPUs gave, and devices that are no preset but for one parameter.
#include "sim/silicon/accumulator_match.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

#include "models/mac/accumulator_preset.hpp"
#include "sim/silicon/worthwhile_dots.hpp"

namespace mantissa::silicon {
namespace {

// By preset.
std::map<std::string, MeasuredDots> published() {
  std::ifstream file(MANTISSA_SOURCE_DIR "/testbench/data/tensor_core_dots.txt");
  std::map<std::string, std::string> texts;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t space = line.find(' ');
    texts[line.substr(0, space)] += line.substr(space + 1) + "\n";
  }
  std::map<std::string, MeasuredDots> dots;
  for (const auto& [preset, text] : texts)
    dots.emplace(preset, parse_measured_dots(text, preset, formats::e4m3, formats::e4m3));
  return dots;
}

TEST(AccumulatorMatch, PresetsGiveWhatGpusGave) {
  const std::map<std::string, MeasuredDots> all = published();
  ASSERT_EQ(all.size(), 5U);
  for (const auto& [name, dots] : all) {
    const Start start = name == "hopper" ? Start::zero : Start::given;
    const Candidate preset{name, accumulator_preset(name).accumulator, start};
    ASSERT_EQ(dots.size(), 10U);
    EXPECT_EQ(match(dots, preset, 2).equal, dots.size()) << name;
    // One aligned bit less and one more are refuted; with 25 of them such sums are exact.
    for (const Candidate& other : variations(preset)) {
      if (!other.name.ends_with("aligned bits") || name.starts_with("mma")) continue;
      EXPECT_LT(match(dots, other, 1).equal, dots.size()) << name << ": " << other.name;
    }
  }
}

// A device that is a preset but for one parameter: made up, so that the answer is known.
TEST(AccumulatorMatch, VariationsExplainADeviceThatDiffersInOneParameter) {
  MeasuredDots dots;
  dots.a_format = dots.b_format = formats::e4m3;
  dots.k = 64;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const WorthwhileDot dot = worthwhile_dot(dots.a_format, dots.b_format, dots.k, 7, i);
    dots.a.insert(dots.a.end(), dot.a.begin(), dot.a.end());
    dots.b.insert(dots.b.end(), dot.b.begin(), dot.b.end());
    dots.start.push_back(dot.start);
    dots.line.push_back(i + 1);
  }
  for (const AccumulatorPreset& preset : accumulator_presets()) {
    const Candidate own{std::string(preset.name), preset.accumulator, Start::given};
    for (const Candidate& device : variations(own)) {
      dots.result.clear();
      for (std::size_t i = 0; i < dots.size(); ++i) dots.result.push_back(computed(dots, i, device));
      const std::vector<Candidate> others = variations(own);
      const bool explained = std::any_of(others.begin(), others.end(), [&](const Candidate& other) {
        return other.name == device.name && match(dots, other, 2).different.empty();
      });
      EXPECT_TRUE(explained) << preset.name << " with " << device.name;
      const Match plain = match(dots, own, 2);
      EXPECT_FALSE(plain.different.empty())
          << preset.name << " with " << device.name << ": the operands cannot tell";
      EXPECT_EQ(plain.equal + plain.different.size(), dots.size());
    }
  }
}

TEST(AccumulatorMatch, StartValuesAndNans) {
  // 1 * 1 from 2, by a device that has 3, by one that starts from zero, and NaN with another payload.
  const MeasuredDots dots =
      parse_measured_dots("38 38 40000000 40400000\n38 38 40000000 3f800000\n7f 38 00000000 7fffffff\n", "t",
                          formats::e4m3, formats::e4m3);
  const Accumulator how = accumulator_preset("blackwell").accumulator;
  EXPECT_EQ(match(dots, {"blackwell", how, Start::given}, 1).different, (std::vector<std::size_t>{1}));
  EXPECT_EQ(match(dots, {"blackwell", how, Start::zero}, 1).different, (std::vector<std::size_t>{0}));
  EXPECT_EQ(candidates(dots, "").size(), 2 * accumulator_presets().size());
  EXPECT_EQ(candidates(dots, "ada").size(), 2U);
  const MeasuredDots no_start =
      parse_measured_dots("38 38 80000000 3f800000\n", "t", formats::e4m3, formats::e4m3);
  EXPECT_EQ(candidates(no_start, "").size(), accumulator_presets().size());
}

TEST(AccumulatorMatch, StepsEndWithTheResult) {
  const MeasuredDots dots = published().at("ada");
  const Candidate ada{"ada", accumulator_preset("ada").accumulator, Start::given};
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const std::vector<std::uint32_t> steps = computed_steps(dots, i, ada);
    ASSERT_EQ(steps.size(), 2U);  // 32 products, 16 at a time
    EXPECT_EQ(steps.back(), dots.result[i]);
  }
}

}  // namespace
}  // namespace mantissa::silicon
