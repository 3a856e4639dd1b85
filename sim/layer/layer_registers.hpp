// What a layer's units carry from step to step, and the one way to write it down: checkpoints and traces have
// the same JSON.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "models/format/format.hpp"
#include "sim/layer/role.hpp"
#include "sim/support/json.hpp"

namespace mantissa {

struct LayerRegisters {
  std::optional<double> tau;           // threshold of the pruner; none: errors are not pruned
  std::optional<Format> error_format;  // chosen for this layer's errors; none: the recipe's
  double target = 0;                   // share of zeros that the threshold is to give
  double correction = 0;               // added to it when a threshold is looked for
  // The exponents of its quantizers' scales, one per tensor that they make; none: never used.
  std::array<std::optional<int>, role_count> scale{};

  std::optional<int>& scale_of(Role role) { return scale.at(static_cast<std::size_t>(role)); }
  const std::optional<int>& scale_of(Role role) const { return scale.at(static_cast<std::size_t>(role)); }

  // The loss scale was multiplied by 2^exponent: so are errors to come, and what was set for them.
  void follow_loss_scale(int exponent);
  friend bool operator==(const LayerRegisters&, const LayerRegisters&) = default;
};

OrderedJson registers_json(const LayerRegisters& registers);
// Throws std::invalid_argument that begins with `where`.
LayerRegisters parse_registers(const Json& json, const std::string& where);

}  // namespace mantissa
