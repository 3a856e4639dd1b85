// Traces of a network's shapes with made-up numbers: what a gradient's distribution and sparsity do to a
// machine can then be asked without training anything.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/trace/networks.hpp"

namespace mantissa::trace {

struct SyntheticNumbers {
  std::uint64_t seed = 1;
  double sparsity = 0.5;  // share of zeros behind a ReLU, and in gradients before one
  // Share of zeros in every gradient, whatever follows the layer.
  std::optional<double> gradient_sparsity = std::nullopt;
  std::optional<double> mu = std::nullopt;  // of ln|g| in every layer; usual_mu() of each otherwise
  double sigma = 2;                         // of ln|g|
};

// mu of a layer's output gradient as training has it, before any loss scale: the loss is a mean over images,
// and the places of an image share what arrives, so that sums over them, such as the weight gradient's, are
// alike in all layers.
double usual_mu(const NetworkLayer& layer);

// Throws std::invalid_argument where a share is outside 0..1 or gradients would leave FP32's range.
void check(const SyntheticNumbers& numbers);

// What to write: one step, number 0: input, weight and bias or gamma and beta, grad_output of every layer.
// Inputs are normal or, behind a ReLU, half-normal with zeros; weights normal with variance 2 / inputs (He et
// al. 2015); gradients have lognormal magnitudes and random signs. Element i of a tensor depends on seed, the
// tensor's name and i alone.
struct SyntheticJob {
  std::filesystem::path path;
  Network network;
  SyntheticNumbers numbers;
  DType dtype = DType::f32;
  std::string origin;  // for the metadata
  // What the network does beyond its layers, where it is known.
  struct Beyond {
    double macs = 0;  // forward
    std::vector<std::string> notes = {};
  };
  std::optional<Beyond> beyond = std::nullopt;
  int threads = 1;
  // Called before each piece with elements done, elements in all, and the tensor's name.
  std::function<void(std::uint64_t, std::uint64_t, const std::string&)> progress;
};
struct SyntheticSummary {
  std::size_t tensors = 0;
  std::uint64_t elements = 0;
};
// Throws what check() and write_safetensors() throw.
SyntheticSummary write_synthetic(const SyntheticJob& job);

}  // namespace mantissa::trace
