// Everything of a run that is not a tensor, as JSON and back.
#pragma once

#include <optional>
#include <string>

#include "models/update/loss_scale.hpp"
#include "sim/support/json.hpp"
#include "sim/train/model.hpp"
#include "sim/train/trainer.hpp"

namespace mantissa::train {

Json state_json(const Model& model, const RunState& state, const std::optional<LossScale>& loss_scale);

// Throws std::invalid_argument that names the field, for all that a run of this length, network and recipe
// cannot have come to.
void restore_state(const Json& json, const RunLength& length, Model& model, RunState& state,
                   std::optional<LossScale>& loss_scale);

}  // namespace mantissa::train
