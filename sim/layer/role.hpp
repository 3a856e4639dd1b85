// Layers and their tensors, by the words that traces use.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "models/mac/pass.hpp"

namespace mantissa {

enum class LayerKind : std::uint8_t { conv2d, linear, batchnorm };
std::string_view name_of(LayerKind kind);
// A convolution or a linear layer: three GEMMs.
constexpr bool multiplies(LayerKind kind) { return kind != LayerKind::batchnorm; }

// What a tensor is to its layer.
enum class Role : std::uint8_t {
  input,
  weight,
  bias,
  output,
  grad_output,
  grad_input,
  grad_weight,
  gamma,
  beta,
};
inline constexpr int role_count = 9;
std::string_view name_of(Role role);
std::optional<Role> role_of(std::string_view name);
// Multiplied by the loss scale.
constexpr bool is_gradient(Role role) {
  return role == Role::grad_output || role == Role::grad_input || role == Role::grad_weight;
}

// The tensor that a pass over a convolution or a linear layer makes. Throws std::invalid_argument for the
// update, which makes none.
Role result_role(Pass pass);

}  // namespace mantissa
