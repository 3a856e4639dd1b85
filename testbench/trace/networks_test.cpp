// The networks against what is published of them: parameters, layers, multiply-accumulates.
#include "sim/trace/networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace mantissa::test {
namespace {

using trace::LayerKind;
using trace::Network;
using trace::NetworkLayer;
using Shape = std::vector<std::int64_t>;

std::map<LayerKind, int> kinds(const Network& network) {
  std::map<LayerKind, int> count;
  for (const NetworkLayer& layer : network) ++count[layer.layer.kind];
  return count;
}

// Of the forward pass.
double macs(const Network& network) {
  double total = 0;
  for (const NetworkLayer& layer : network) {
    if (layer.weight.empty()) continue;
    double product = 1;
    for (const std::int64_t size : layer.output) product *= static_cast<double>(size);
    for (std::size_t i = 1; i < layer.weight.size(); ++i) product *= static_cast<double>(layer.weight[i]);
    total += product;
  }
  return total;
}

const NetworkLayer& find(const Network& network, const std::string& name) {
  return *std::find_if(network.begin(), network.end(),
                       [&](const NetworkLayer& layer) { return layer.layer.name == name; });
}

TEST(Networks, ResNet18IsThePublishedOne) {
  const Network network = trace::resnet18(4, 224, 224);
  EXPECT_EQ(trace::parameter_count(network), 11689512U);
  EXPECT_EQ(kinds(network),
            (std::map<LayerKind, int>{
                {LayerKind::conv2d, 20}, {LayerKind::linear, 1}, {LayerKind::batchnorm, 20}}));
  EXPECT_NEAR(macs(network) / 4, 1.814e9, 0.001e9);  // 1.81 GMAC an image
  EXPECT_FALSE(network.front().layer.input_gradient);
  EXPECT_TRUE(std::all_of(network.begin() + 1, network.end(),
                          [](const NetworkLayer& layer) { return layer.layer.input_gradient; }));
  EXPECT_EQ(find(network, "conv1").output, (Shape{4, 64, 112, 112}));
  EXPECT_EQ(find(network, "layer1.0.conv1").input, (Shape{4, 64, 56, 56}));
  EXPECT_EQ(find(network, "layer2.0.downsample.0").weight, (Shape{128, 64, 1, 1}));
  EXPECT_EQ(find(network, "layer2.0.downsample.0").input, (Shape{4, 64, 56, 56}));
  EXPECT_EQ(find(network, "layer2.0.downsample.1").input, (Shape{4, 128, 28, 28}));
  EXPECT_EQ(find(network, "layer4.1.bn2").input, (Shape{4, 512, 7, 7}));
  EXPECT_EQ(find(network, "fc").weight, (Shape{1000, 512}));
}

TEST(Networks, ResNet50IsThePublishedOne) {
  const Network network = trace::resnet50(1, 224, 224);
  EXPECT_EQ(trace::parameter_count(network), 25557032U);
  EXPECT_EQ(kinds(network),
            (std::map<LayerKind, int>{
                {LayerKind::conv2d, 53}, {LayerKind::linear, 1}, {LayerKind::batchnorm, 53}}));
  EXPECT_NEAR(macs(network), 4.089e9, 0.001e9);  // with the stride in the 3x3 convolution
  EXPECT_EQ(find(network, "layer2.0.conv2").layer.stride, (std::array<std::int64_t, 2>{2, 2}));
  EXPECT_EQ(find(network, "layer1.0.downsample.0").weight, (Shape{256, 64, 1, 1}));
  EXPECT_EQ(find(network, "layer4.2.conv3").output, (Shape{1, 2048, 7, 7}));
}

TEST(Networks, ResNetTakesAnyImage) {
  const Network network = trace::resnet18(2, 32, 65);
  EXPECT_EQ(trace::parameter_count(network), 11689512U);
  EXPECT_EQ(find(network, "conv1").output, (Shape{2, 64, 16, 33}));
  EXPECT_EQ(find(network, "layer1.0.conv1").input, (Shape{2, 64, 8, 17}));
  EXPECT_EQ(find(network, "layer4.1.bn2").input, (Shape{2, 512, 1, 3}));
}

TEST(Networks, Mlp) {
  const Network network = trace::mlp(8, {784, 100, 10});
  EXPECT_EQ(trace::parameter_count(network), 784U * 100 + 100 + 100 * 10 + 10);
  ASSERT_EQ(network.size(), 2U);
  EXPECT_FALSE(network[0].layer.input_gradient);
  EXPECT_TRUE(network[1].layer.input_gradient);
  EXPECT_TRUE(network[0].into_relu);
  EXPECT_FALSE(network[1].into_relu);
  EXPECT_THROW(trace::mlp(8, {784}), std::invalid_argument);
}

TEST(Networks, TransformerBlock) {
  const Network network = trace::transformer_block(2, 16, 64);
  ASSERT_EQ(network.size(), 6U);
  EXPECT_EQ(trace::parameter_count(network), 4U * (64 * 64 + 64) + 2 * 4 * 64 * 64 + 4 * 64 + 64);
  EXPECT_EQ(network[5].input, (Shape{2, 16, 256}));
  EXPECT_EQ(network[5].output, (Shape{2, 16, 64}));
}

}  // namespace
}  // namespace mantissa::test
