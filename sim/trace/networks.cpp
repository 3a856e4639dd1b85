#include "sim/trace/networks.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "sim/trace/layer_shapes.hpp"

namespace mantissa::trace {
namespace {

struct Image {
  std::int64_t channels;
  std::int64_t height;
  std::int64_t width;
};

// Adds layers one after the other and follows the size of the image.
class ResNetBuilder {
 public:
  ResNetBuilder(std::int64_t batch, std::int64_t height, std::int64_t width)
      : batch_(batch), image_{3, height, width} {}

  void convolution(const std::string& name, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                   InputValues values) {
    NetworkLayer made;
    made.layer.name = name;
    made.layer.kind = LayerKind::conv2d;
    made.layer.stride = {stride, stride};
    made.layer.padding = {kernel / 2, kernel / 2};
    made.layer.input_gradient = !network_.empty();
    made.input = shape();
    made.weight = {channels, image_.channels, kernel, kernel};
    made.values = values;
    resample(kernel, stride);
    image_.channels = channels;
    made.output = shape();
    network_.push_back(std::move(made));
  }

  void batch_norm(const std::string& name) {
    NetworkLayer made;
    made.layer.name = name;
    made.layer.kind = LayerKind::batchnorm;
    made.input = made.output = shape();
    made.into_relu = true;  // at once, or after the addition of the shortcut, which passes gradients on
    network_.push_back(std::move(made));
  }

  void max_pool() { resample(3, 2); }

  // `widths` of the convolutions and their kernels, the last giving the block's channels.
  struct Step {
    std::int64_t channels;
    std::int64_t kernel;
    std::int64_t stride;
  };
  void block(const std::string& name, const std::vector<Step>& steps) {
    const Image before = image_;
    std::int64_t stride = 1;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto numbered = [&](const char* kind) {
        return std::string(name).append(kind).append(std::to_string(i + 1));
      };
      convolution(numbered(".conv"), steps[i].channels, steps[i].kernel, steps[i].stride, InputValues::relu);
      batch_norm(numbered(".bn"));
      stride *= steps[i].stride;
    }
    if (stride == 1 && before.channels == image_.channels) return;
    image_ = before;
    convolution(name + ".downsample.0", steps.back().channels, 1, stride, InputValues::relu);
    batch_norm(name + ".downsample.1");
  }

  Network classify(std::int64_t classes) {
    NetworkLayer made;
    made.layer.name = "fc";
    made.layer.kind = LayerKind::linear;
    made.input = {batch_, image_.channels};
    made.weight = {classes, image_.channels};
    made.output = {batch_, classes};
    made.bias = true;
    made.values = InputValues::pooled;
    network_.push_back(std::move(made));
    return std::move(network_);
  }

 private:
  std::vector<std::int64_t> shape() const { return {batch_, image_.channels, image_.height, image_.width}; }
  void resample(std::int64_t kernel, std::int64_t stride) {
    image_.height = convolved_size(image_.height, kernel, stride, kernel / 2, 1);
    image_.width = convolved_size(image_.width, kernel, stride, kernel / 2, 1);
  }

  std::int64_t batch_;
  Image image_;
  Network network_;
};

Network resnet(ResNetBuilder builder, const std::array<int, 4>& blocks, bool bottleneck) {
  builder.convolution("conv1", 64, 7, 2, InputValues::dense);
  builder.batch_norm("bn1");
  builder.max_pool();
  for (int stage = 0; stage < 4; ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      if (bottleneck) {
        builder.block(name, {{width, 1, 1}, {width, 3, stride}, {4 * width, 1, 1}});
      } else {
        builder.block(name, {{width, 3, stride}, {width, 3, 1}});
      }
    }
  }
  return builder.classify(1000);
}

NetworkLayer linear(std::string name, std::vector<std::int64_t> input, std::int64_t width) {
  NetworkLayer made;
  made.layer.name = std::move(name);
  made.layer.kind = LayerKind::linear;
  made.weight = {width, input.back()};
  made.output = input;
  made.output.back() = width;
  made.input = std::move(input);
  made.bias = true;
  return made;
}

std::uint64_t elements(const std::vector<std::int64_t>& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::uint64_t>(size);
  return count;
}

}  // namespace

Network resnet18(std::int64_t batch, std::int64_t height, std::int64_t width) {
  return resnet({batch, height, width}, {2, 2, 2, 2}, false);
}

Network resnet50(std::int64_t batch, std::int64_t height, std::int64_t width) {
  return resnet({batch, height, width}, {3, 4, 6, 3}, true);
}

Network mlp(std::int64_t batch, const std::vector<std::int64_t>& widths) {
  if (widths.size() < 2) throw std::invalid_argument("an MLP needs the width of its input and of a layer");
  Network network;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    NetworkLayer made = linear("fc" + std::to_string(i), {batch, widths[i - 1]}, widths[i]);
    made.layer.input_gradient = i > 1;
    made.values = i > 1 ? InputValues::relu : InputValues::dense;
    made.into_relu = i + 1 < widths.size();
    network.push_back(std::move(made));
  }
  return network;
}

Network transformer_block(std::int64_t batch, std::int64_t tokens, std::int64_t width) {
  Network network;
  const std::vector<std::int64_t> input{batch, tokens, width};
  for (const char* name : {"attention.q", "attention.k", "attention.v", "attention.o"})
    network.push_back(linear(name, input, width));
  network.push_back(linear("mlp.fc1", input, 4 * width));
  network.back().into_relu = true;
  network.push_back(linear("mlp.fc2", {batch, tokens, 4 * width}, width));
  network.back().values = InputValues::relu;
  return network;
}

double attention_macs(std::int64_t batch, std::int64_t tokens, std::int64_t width) {
  constexpr double products = 2;  // of q with k, of scores with v
  const auto sequence = static_cast<double>(tokens);
  return products * static_cast<double>(batch) * sequence * sequence * static_cast<double>(width);
}

std::uint64_t parameter_count(const Network& network) {
  std::uint64_t count = 0;
  for (const NetworkLayer& layer : network) {
    if (layer.layer.kind == LayerKind::batchnorm) {
      count += 2 * static_cast<std::uint64_t>(layer.input[1]);
    } else {
      count += elements(layer.weight) + (layer.bias ? static_cast<std::uint64_t>(layer.weight[0]) : 0);
    }
  }
  return count;
}

}  // namespace mantissa::trace
