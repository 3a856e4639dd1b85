// A run on disk between two steps: one safetensors file with parameters, momenta and running statistics, and
// all the rest as JSON in its metadata, with a digest of the whole file. A run that goes on from it gives the
// bits of one that never stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/update/loss_scale.hpp"
#include "sim/support/json.hpp"
#include "sim/trace/safetensors.hpp"
#include "sim/train/model.hpp"
#include "sim/train/trainer.hpp"

namespace mantissa::train {

// What a checkpoint holds besides a model and its run: named tensors, and JSON under a name of its own.
struct Attachment {
  struct Tensor {
    std::string name;
    std::vector<float> values;  // of one to be read: as many as there must be
  };
  std::string name;  // empty: there is nothing
  std::shared_ptr<const Json> json;
  std::vector<Tensor> tensors;
  // Takes what was read; throws std::invalid_argument for what cannot be right.
  std::function<void(const Attachment&)> restore;
};

// The file is replaced at once or stays as it was. Throws std::runtime_error where it cannot be written.
void save_checkpoint(const std::filesystem::path& path, const Model& model, const RunOptions& options,
                     const RunState& state, const std::optional<LossScale>& loss_scale,
                     const Attachment& attachment = {});

// Throws std::invalid_argument that names the file: for one of another layout, of another run (network,
// recipe, seed, batch, workers, epochs, images, array, learning rate), and for one that is damaged, with the
// field.
void load_checkpoint(const trace::Safetensors& file, const RunLength& length, Model& model,
                     const RunOptions& options, RunState& state, std::optional<LossScale>& loss_scale,
                     Attachment attachment = {});

}  // namespace mantissa::train
