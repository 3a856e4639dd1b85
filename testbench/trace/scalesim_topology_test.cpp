#include "sim/trace/scalesim_topology.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace mantissa::test {
namespace {

using trace::LayerKind;
using trace::Network;
using Shape = std::vector<std::int64_t>;

constexpr const char* heading =
    "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n";

Network read(const std::string& csv, std::int64_t batch = 1) {
  std::istringstream stream(csv);
  return trace::read_scalesim_topology(stream, "t.csv", batch);
}

std::string complaint(const std::string& csv, std::int64_t batch = 1) {
  try {
    read(csv, batch);
    return {};
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(ScaleSimTopology, Convolutions) {
  std::string text = heading;
  text += "Conv1, 224, 230, 7, 7, 3, 64, 2,\r\n\n\tConv2 ,56,56,3,1,64,128,1,2\n";
  const Network network = read(text, 4);
  ASSERT_EQ(network.size(), 2U);
  EXPECT_EQ(network[0].layer.name, "Conv1");
  EXPECT_EQ(network[0].layer.kind, LayerKind::conv2d);
  EXPECT_EQ(network[0].input, (Shape{4, 3, 224, 230}));
  EXPECT_EQ(network[0].weight, (Shape{64, 3, 7, 7}));
  EXPECT_EQ(network[0].output, (Shape{4, 64, 109, 112}));
  EXPECT_EQ(network[0].layer.padding, (std::array<std::int64_t, 2>{0, 0}));
  EXPECT_FALSE(network[0].layer.input_gradient);
  EXPECT_EQ(network[1].layer.name, "Conv2");
  EXPECT_EQ(network[1].layer.stride, (std::array<std::int64_t, 2>{1, 2}));
  EXPECT_EQ(network[1].output, (Shape{4, 128, 54, 28}));
  EXPECT_TRUE(network[1].layer.input_gradient);
}

TEST(ScaleSimTopology, Gemms) {
  const Network network = read("Layer, M, N, K,\nqkv, 128, 96, 64,\n");
  ASSERT_EQ(network.size(), 1U);
  EXPECT_EQ(network[0].layer.kind, LayerKind::linear);
  EXPECT_EQ(network[0].input, (Shape{128, 64}));
  EXPECT_EQ(network[0].weight, (Shape{96, 64}));
  EXPECT_EQ(network[0].output, (Shape{128, 96}));
}

TEST(ScaleSimTopology, MistakesHaveLines) {
  struct Mistake {
    std::string csv;
    std::vector<std::string> words;
  };
  const std::string top = heading;
  const std::vector<Mistake> mistakes{
      {"", {"empty"}},
      {"\n\n", {"empty"}},
      {top, {"no layers"}},
      {"a,b,c\n", {"line 1", "8 columns", "4"}},
      {"Conv1, 224, 224, 7, 7, 3, 64, 2,\n", {"line 1", "heading"}},
      {top + "Conv1, 224, 224, 7, 7, 3, 64\n", {"line 2", "8 columns", "7"}},
      {top + "Conv1, 224, 224, 7, 7, 3, 64, 2,1,1\n", {"line 2", "10"}},
      {top + "\nConv1, 224, x, 7, 7, 3, 64, 2,\n", {"line 3", "IFMAP Width", "'x'"}},
      {top + "Conv1, 224, 224, 7, 7, 0, 64, 2,\n", {"line 2", "Channels", "'0'"}},
      {top + "Conv1, 224, 224, 7, 7, -3, 64, 2,\n", {"line 2", "Channels", "'-3'"}},
      {top + "Conv1, 224, 224, 7, 7, 3, 1.5, 2,\n", {"line 2", "Num Filter", "'1.5'"}},
      {top + "Conv1, 224, 224, 7, 7, 3, 99999999999999999999, 2,\n", {"line 2", "Num Filter", "16777216"}},
      {top + "Conv1, 224, 224, 7, 7, 3, 64, 0,\n", {"line 2", "Strides"}},
      {top + "Conv1, 5, 224, 7, 7, 3, 64, 1,\n", {"line 2", "7x7", "5x224", "padding"}},
      {top + ", 224, 224, 7, 7, 3, 64, 1,\n", {"line 2", "name"}},
      {top + "A, 9, 9, 1, 1, 1, 1, 1,\nA, 9, 9, 1, 1, 1, 1, 1,\n", {"line 3", "'A'", "line 2"}},
      {top + "A\xff, 9, 9, 1, 1, 1, 1, 1,\n", {"line 2", "ASCII"}},
      {top + std::string(5000, 'x') + "\n", {"line 2", "text file"}},
      {"Layer, M, N, K,\nx, 1, 2,\n", {"line 2", "4 columns"}},
      {"Layer, M, N, K,\nx, 1, 2, k,\n", {"line 2", "K is 'k'"}},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string text = complaint(mistake.csv);
    EXPECT_EQ(text.rfind("t.csv: ", 0), 0U) << text;
    for (const std::string& word : mistake.words)
      EXPECT_NE(text.find(word), std::string::npos) << "no " << word << " in: " << text;
  }
  EXPECT_NE(complaint("Layer, M, N, K,\nx, 1, 2, 3,\n", 2).find("--batch"), std::string::npos);
}

}  // namespace
}  // namespace mantissa::test
