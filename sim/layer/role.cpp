#include "sim/layer/role.hpp"

#include <array>
#include <stdexcept>

namespace mantissa {
namespace {

constexpr std::array<std::string_view, 3> kind_names = {"conv2d", "linear", "batchnorm"};
constexpr std::array<std::string_view, role_count> role_names = {
    "input", "weight", "bias", "output", "grad_output", "grad_input", "grad_weight", "gamma", "beta"};

}  // namespace

std::string_view name_of(LayerKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }

std::string_view name_of(Role role) { return role_names.at(static_cast<std::size_t>(role)); }

std::optional<Role> role_of(std::string_view name) {
  for (std::size_t i = 0; i < role_names.size(); ++i) {
    if (role_names[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

Role result_role(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return Role::output;
    case Pass::input_gradient:
      return Role::grad_input;
    case Pass::weight_gradient:
      return Role::grad_weight;
    case Pass::update:
      break;
  }
  throw std::invalid_argument("an update makes no tensor of a layer");
}

}  // namespace mantissa
