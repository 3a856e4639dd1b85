// A run on disk between two steps: one safetensors file with parameters, momenta and running statistics, and
// all the rest as JSON in its metadata, with a digest of the whole file. A run that goes on from it gives the
// bits of one that never stopped.
#pragma once

#include <filesystem>
#include <optional>

#include "models/update/loss_scale.hpp"
#include "sim/trace/safetensors.hpp"
#include "sim/train/model.hpp"
#include "sim/train/trainer.hpp"

namespace mantissa::train {

// The file is replaced at once or stays as it was. Throws std::runtime_error where it cannot be written.
void save_checkpoint(const std::filesystem::path& path, const Model& model, const RunOptions& options,
                     const RunState& state, const std::optional<LossScale>& loss_scale);

// Throws std::invalid_argument that names the file: for one of another layout, of another run (network,
// recipe, seed, batch, epochs, images, array, learning rate), and for one that is damaged, with the field.
void load_checkpoint(const trace::Safetensors& file, const RunLength& length, Model& model,
                     const RunOptions& options, RunState& state, std::optional<LossScale>& loss_scale);

}  // namespace mantissa::train
