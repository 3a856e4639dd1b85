// A training trace: the tensors of some layers at some steps of a real run, in one safetensors file. What the
// file must contain is described in traces/FORMAT.md.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/layer/layer_registers.hpp"
#include "sim/layer/role.hpp"
#include "sim/trace/safetensors.hpp"

namespace mantissa::trace {

using mantissa::LayerKind;
using mantissa::name_of;
using mantissa::Role;
using mantissa::role_count;

// s<step>.<layer>.<role>
std::string tensor_name(std::uint32_t step, std::string_view layer, Role role);

struct Layer {
  std::string name;
  LayerKind kind = LayerKind::linear;
  // Of conv2d: height, width.
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
  // False for a layer that reads the data set: training computes no gradient of it.
  bool input_gradient = true;
};

// What held at one step of the recorded run.
struct RunStep {
  std::uint32_t step = 0;
  double loss_scale = 1;
  std::map<std::string, LayerRegisters, std::less<>> registers;  // by layer

  // nullptr where nothing is known of the layer.
  const LayerRegisters* registers_of(std::string_view layer) const;
};

// How the recorded run was made, where the file says so: a replay then gives the run's own bits.
struct Run {
  std::optional<std::uint64_t> run_seed;
  std::optional<int> rows;
  std::optional<int> cols;
  std::string recipe;
  std::string recipe_digest;                        // of its content; empty: not known
  double loss_scale = 1;                            // recorded gradients are already multiplied by it
  std::vector<std::pair<std::string, double>> tau;  // per layer, in the layers' order
  std::vector<RunStep> by_step;  // ascending; where a step is there, it goes before the rest

  // nullptr where nothing is known of the step in particular.
  const RunStep* at(std::uint32_t step) const;
};

// What whoever recorded the file says of it.
struct Capture {
  // Multiply-accumulates of the model's forward passes at the recorded steps, in this file or not.
  std::optional<double> executed_macs;
  std::vector<std::string> notes;  // what is not in the file, and why; a line each
};

class Trace {
 public:
  // Checks all of the file: tensors, layer records, and that the shapes of every layer fit each
  // other. Throws std::invalid_argument that names file and tensor. What the numbers are is not looked at
  // (sim/trace/finite.hpp does).
  explicit Trace(const std::filesystem::path& path);
  explicit Trace(Safetensors file);

  const std::filesystem::path& path() const { return file_.path(); }
  const Safetensors& file() const { return file_; }
  const std::vector<Layer>& layers() const { return layers_; }
  const std::vector<std::uint32_t>& steps() const { return steps_; }  // ascending
  const std::optional<Run>& run() const { return run_; }
  const std::optional<Capture>& capture() const { return capture_; }
  // Share of the model's forward multiply-accumulates that the file has; none where it does not say.
  std::optional<double> coverage() const;
  const std::string& origin() const { return origin_; }  // where the file says who made it; else empty

  // nullptr where the trace does not have it.
  const TensorInfo* find(std::uint32_t step, const Layer& layer, Role role) const;
  // Widened exactly to FP32. Throws std::invalid_argument that names the tensor where it is missing.
  std::vector<float> values(std::uint32_t step, const Layer& layer, Role role) const;
  const std::vector<std::int64_t>& shape(std::uint32_t step, const Layer& layer, Role role) const;

 private:
  void check_steps(const std::vector<std::uint32_t>& promised) const;
  const TensorInfo& required(std::uint32_t step, const Layer& layer, Role role) const;

  Safetensors file_;
  std::vector<Layer> layers_;
  std::vector<std::uint32_t> steps_;
  std::optional<Run> run_;
  std::optional<Capture> capture_;
  std::string origin_;
};

}  // namespace mantissa::trace
