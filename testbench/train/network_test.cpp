#include "sim/train/network.hpp"

#include <gtest/gtest.h>

#include "sim/trace/layer_records.hpp"
#include "sim/train/model.hpp"
#include "sim/train/network_yaml.hpp"
#include "testbench/support/refusal.hpp"
#include "testbench/train/toy.hpp"

namespace mantissa::train {
namespace {

using mantissa::test::refusal;

std::int64_t parameters(const std::string& name) {
  Model model(load_network(name).value, test::toy_recipe("fp32"), 1);
  std::int64_t count = 0;
  for (const Parameter& parameter : model.parameters())
    count += static_cast<std::int64_t>(parameter.value.values.size());
  return count;
}

TEST(Network, ShippedOnesHaveTheParametersOfTheirLayers) {
  EXPECT_EQ(parameters("mlp"), 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(parameters("lenet"),
            25 * 6 + 6 + 25 * 6 * 16 + 16 + 400 * 120 + 120 + 120 * 84 + 84 + 84 * 10 + 10);
  const int convolutions = 9 * 8 + 2 * 9 * 64 + 9 * 128 + 9 * 256 + 128 + 9 * 512 + 9 * 1024 + 512;
  EXPECT_EQ(parameters("resnet8"), convolutions + 2 * (3 * 8 + 3 * 16 + 3 * 32) + 320 + 10);
}

TEST(Network, ShapesFollowFromTheLayers) {
  const Network network = test::toy_network();
  EXPECT_EQ(network.nodes[3].out_shape, (ValueShape{6, 4, 4}));  // 3 x 3, stride 2, padding 1 on 8 x 8
  EXPECT_EQ(network.nodes[5].input, 3);                          // the shortcut reads the stem
  EXPECT_EQ(network.nodes[9].out_shape, (ValueShape{6, 2, 2}));
  EXPECT_EQ(network.classes(), 10);
}

std::string complaint(const std::string& layers) {
  return refusal([&] { parse_network("name: n\nlayers:\n" + layers, "n.yaml"); });
}

TEST(Network, RefusesWithFileAndLine) {
  EXPECT_NE(complaint("  - {kind: conv, out: 4}\n").find("n.yaml:3"), std::string::npos);
  EXPECT_NE(complaint("  - {kind: relu, slope: 1}\n").find("slope"), std::string::npos);
  EXPECT_NE(complaint("  - {kind: linear, out: 0}\n").find("n.yaml:3"), std::string::npos);
  EXPECT_NE(
      complaint("  - {kind: relu, from: later}\n  - {kind: relu, name: later}\n").find("no earlier layer"),
      std::string::npos);
  EXPECT_NE(complaint("  - {kind: relu, name: a}\n  - {kind: relu, name: a}\n").find("n.yaml:4"),
            std::string::npos);
  EXPECT_NE(complaint("  - {kind: conv, out: 2, kernel: 3, padding: 3}\n").find("smaller than the kernel"),
            std::string::npos);
  EXPECT_NE(complaint("  - {kind: conv, out: 2, kernel: 40}\n").find("does not fit a side of 28"),
            std::string::npos);
  EXPECT_NE(complaint("  - {kind: conv, name: c, out: 2, kernel: 1}\n  - {kind: add, with: image}\n"
                      "  - {kind: linear, out: 10}\n")
                .find("adds 2 x 28 x 28 and 1 x 28 x 28"),
            std::string::npos);
  EXPECT_NE(complaint("  - {kind: linear, out: 10}\n  - {kind: relu}\n").find("must be linear"),
            std::string::npos);
  EXPECT_NE(complaint("  - {kind: relu, name: idle}\n  - {kind: linear, out: 10, from: image}\n")
                .find("nothing reads its output"),
            std::string::npos);
  EXPECT_NE(refusal([] { load_network("resnet9"); }).find("shipped are lenet, mlp, resnet8"),
            std::string::npos);
}

// Whatever is trained can be recorded, and the record read: the rule of a trace holds from the start.
TEST(Network, NamesOfLayersAreThoseThatATraceMayHave) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"''", "the layer's name is empty"},
      {"'" + std::string(201, 'n') + "'", "the layer's name has more than 200 bytes"},
      {R"("a\tb")", "has control characters"},
      {R"("a\eb")", "has control characters"},
      {R"("a\0b")", "has control characters"},
      {R"("\x7f")", "has control characters"},
      {"'" + std::string(200, 'n') + "'", ""},
      {"dots.and.input", ""},
      {"größe", ""},
      {R"('"quoted", [1]')", ""}};
  for (const auto& [yaml, why] : names) {
    const std::string text = "name: n\nlayers:\n  - {kind: linear, name: " + yaml + ", out: 10}\n";
    Network network;
    const std::string refused = refusal([&] { network = parse_network(text, "n.yaml"); });
    if (!why.empty()) {
      EXPECT_EQ(refused.rfind("n.yaml:3: name: ", 0), 0U) << refused;
      EXPECT_NE(refused.find(why), std::string::npos) << refused;
      continue;
    }
    ASSERT_EQ(refused, "(accepted)") << yaml;
    const std::string record = trace::layers_json(trace_layers(network));
    EXPECT_EQ(trace::parse_layers(record, "t").at(0).name, network.nodes.at(0).name);
  }
}

}  // namespace
}  // namespace mantissa::train
