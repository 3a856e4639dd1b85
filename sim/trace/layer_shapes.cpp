#include "sim/trace/layer_shapes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "sim/support/user_text.hpp"

namespace mantissa::trace {
namespace {

using Tensors = std::array<const TensorInfo*, role_count>;

const TensorInfo* of(const Tensors& tensors, Role role) { return tensors[static_cast<std::size_t>(role)]; }

std::string text(const std::vector<std::int64_t>& shape) {
  std::string list = "[";
  for (const std::int64_t size : shape) list += (list.size() == 1 ? "" : ", ") + std::to_string(size);
  return list + "]";
}

// What may be there, by kind.
bool belongs(Role role, LayerKind kind) {
  switch (role) {
    case Role::weight:
    case Role::bias:
    case Role::grad_weight:
      return kind != LayerKind::batchnorm;
    case Role::gamma:
    case Role::beta:
      return kind == LayerKind::batchnorm;
    case Role::input:
    case Role::output:
    case Role::grad_output:
    case Role::grad_input:
      return true;
  }
  throw std::invalid_argument("a role without a layer");
}

std::string quoted(const TensorInfo& tensor) { return in_quotes(tensor.name, 250); }

}  // namespace

std::int64_t convolved_size(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                            std::int64_t dilation) {
  const std::int64_t room = size + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

LayerShapes::LayerShapes(const Layer& layer, std::string file) : layer_(layer), file_(std::move(file)) {}

void LayerShapes::fail(const TensorInfo& tensor, const std::string& what) const {
  throw std::invalid_argument(fmt::format("{}: tensor {}: {}", file_, quoted(tensor), what));
}

void LayerShapes::expect(const TensorInfo& tensor, std::size_t dimension, const std::string& meaning,
                         Sizes& sizes) const {
  const std::int64_t size = tensor.shape[dimension];
  const auto [known, first] = sizes.try_emplace(meaning, Size{size, tensor.name});
  if (first || known->second.value == size) return;
  fail(tensor, fmt::format("its shape {} says {} {}, but tensor {} says {}", text(tensor.shape), size,
                           meaning, in_quotes(known->second.tensor, 250), known->second.value));
}

void LayerShapes::expect_rank(const TensorInfo& tensor, std::size_t rank, const char* form) const {
  if (tensor.shape.size() != rank)
    fail(tensor, fmt::format("its shape {} is not of the form {}", text(tensor.shape), form));
}

void LayerShapes::expect_same(const TensorInfo* tensor, const TensorInfo* model) const {
  if (tensor == nullptr || model == nullptr || tensor->shape == model->shape) return;
  fail(*tensor, fmt::format("its shape {} should be that of tensor {}, {}", text(tensor->shape),
                            quoted(*model), text(model->shape)));
}

void LayerShapes::check(const Tensors& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] == nullptr) continue;
    const TensorInfo& tensor = *tensors[i];
    const auto role = static_cast<Role>(i);
    if (!belongs(role, layer_.kind))
      fail(tensor, fmt::format("a {} layer has no {}", name_of(layer_.kind), name_of(role)));
    for (const std::int64_t size : tensor.shape) {
      if (size == 0) fail(tensor, "its shape " + text(tensor.shape) + " has no elements");
    }
  }
  switch (layer_.kind) {
    case LayerKind::conv2d:
      return check_conv2d(tensors);
    case LayerKind::linear:
      return check_linear(tensors);
    case LayerKind::batchnorm:
      return check_batchnorm(tensors);
  }
}

void LayerShapes::check_conv2d(const Tensors& tensors) {
  Sizes images;  // of this step
  const TensorInfo* weight = of(tensors, Role::weight);
  const TensorInfo* input = of(tensors, Role::input);
  for (const Role role : {Role::weight, Role::grad_weight}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    expect_rank(*tensor, 4, "[out channels, in channels / groups, height, width]");
    expect(*tensor, 0, "output channels", parameters_);
    expect(*tensor, 1, "input channels per group", parameters_);
    expect(*tensor, 2, "kernel rows", parameters_);
    expect(*tensor, 3, "kernel columns", parameters_);
    check_kernel(*tensor);
  }
  if (const TensorInfo* bias = of(tensors, Role::bias)) {
    expect_rank(*bias, 1, "[out channels]");
    expect(*bias, 0, "output channels", parameters_);
  }
  for (const Role role : {Role::input, Role::grad_input, Role::output, Role::grad_output}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    expect_rank(*tensor, 4, "[images, channels, height, width]");
    const bool in = role == Role::input || role == Role::grad_input;
    expect(*tensor, 0, "images", images);
    expect(*tensor, 1, in ? "input channels" : "output channels", parameters_);
    if (tensor->shape[1] % layer_.groups != 0) {
      fail(*tensor, fmt::format("{} channels are not divisible by the layer's {} groups", tensor->shape[1],
                                layer_.groups));
    }
    expect(*tensor, 2, in ? "input rows" : "output rows", images);
    expect(*tensor, 3, in ? "input columns" : "output columns", images);
  }
  const TensorInfo* kernel = weight != nullptr ? weight : of(tensors, Role::grad_weight);
  const TensorInfo* image = input != nullptr ? input : of(tensors, Role::grad_input);
  if (kernel == nullptr || image == nullptr) return;
  const TensorInfo* result = of(tensors, Role::grad_output);
  check_output(*image, *kernel, result != nullptr ? result : of(tensors, Role::output));
}

void LayerShapes::check_kernel(const TensorInfo& weight) const {
  if (weight.shape[0] % layer_.groups != 0) {
    fail(weight, fmt::format("{} output channels are not divisible by the layer's {} groups", weight.shape[0],
                             layer_.groups));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = layer_.dilation[i] * (weight.shape[2 + i] - 1) + 1;
    if (layer_.padding[i] >= reach) {
      fail(weight, fmt::format("a padding of {} is too large: outputs would see nothing else, as the kernel "
                               "reaches over {}",
                               layer_.padding[i], reach));
    }
  }
}

void LayerShapes::check_output(const TensorInfo& input, const TensorInfo& weight,
                               const TensorInfo* output) const {
  const std::int64_t channels = weight.shape[1] * layer_.groups;
  if (input.shape[1] != channels) {
    fail(weight, fmt::format("its shape {} and {} groups make {} input channels, but tensor {} has {}",
                             text(weight.shape), layer_.groups, channels, quoted(input), input.shape[1]));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t size = convolved_size(input.shape[2 + i], weight.shape[2 + i], layer_.stride[i],
                                             layer_.padding[i], layer_.dilation[i]);
    const char* const direction = i == 0 ? "rows" : "columns";
    if (size == 0) {
      fail(weight, fmt::format("the kernel has more {} than the padded input, tensor {} of shape {}",
                               direction, quoted(input), text(input.shape)));
    }
    if (output != nullptr && output->shape[2 + i] != size) {
      fail(*output,
           fmt::format("its shape {} has {} {}, but input {} and weight {} make {}", text(output->shape),
                       output->shape[2 + i], direction, text(input.shape), text(weight.shape), size));
    }
  }
}

void LayerShapes::check_linear(const Tensors& tensors) {
  for (const Role role : {Role::weight, Role::grad_weight}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    expect_rank(*tensor, 2, "[out features, in features]");
    expect(*tensor, 0, "output features", parameters_);
    expect(*tensor, 1, "input features", parameters_);
  }
  if (const TensorInfo* bias = of(tensors, Role::bias)) {
    expect_rank(*bias, 1, "[out features]");
    expect(*bias, 0, "output features", parameters_);
  }
  const TensorInfo* first = nullptr;
  for (const Role role : {Role::input, Role::grad_input, Role::output, Role::grad_output}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    if (tensor->shape.empty()) fail(*tensor, "it is a single number, not [..., features]");
    const bool in = role == Role::input || role == Role::grad_input;
    expect(*tensor, tensor->shape.size() - 1, in ? "input features" : "output features", parameters_);
    if (first == nullptr) first = tensor;
    if (tensor->shape.size() != first->shape.size() ||
        !std::equal(tensor->shape.begin(), tensor->shape.end() - 1, first->shape.begin())) {
      fail(*tensor, fmt::format("its shape {} and that of tensor {}, {}, differ before the last dimension",
                                text(tensor->shape), quoted(*first), text(first->shape)));
    }
  }
}

void LayerShapes::check_batchnorm(const Tensors& tensors) {
  const TensorInfo* first = nullptr;
  for (const Role role : {Role::input, Role::grad_input, Role::output, Role::grad_output}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    if (tensor->shape.size() < 2) {
      fail(*tensor,
           fmt::format("its shape {} is not of the form [images, channels, ...]", text(tensor->shape)));
    }
    expect(*tensor, 1, "channels", parameters_);
    if (first == nullptr) first = tensor;
    expect_same(tensor, first);
  }
  for (const Role role : {Role::gamma, Role::beta}) {
    const TensorInfo* tensor = of(tensors, role);
    if (tensor == nullptr) continue;
    expect_rank(*tensor, 1, "[channels]");
    expect(*tensor, 0, "channels", parameters_);
  }
}

}  // namespace mantissa::trace
