// Records chosen steps of a training run as a trace that replays with the run's own bits (traces/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"
#include "sim/train/model.hpp"

namespace mantissa::train {

class Recorder {
 public:
  // The file appears, complete, when the last of the steps is over.
  Recorder(std::filesystem::path path, std::vector<std::uint32_t> steps, trace::Run run);

  bool wants(std::uint32_t step) const;
  const std::vector<std::uint32_t>& steps() const { return steps_; }
  void take(std::uint32_t step, const Node& node, Role role, std::span<const float> values);
  // Forward and backward passes are over: registers as they were used. Throws what writing the trace throws.
  void end(std::uint32_t step, int loss_exponent, const Model& model);

 private:
  void write(const Network& network) const;

  struct Taken {
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  std::filesystem::path path_;
  std::vector<std::uint32_t> steps_;  // ascending
  trace::Run run_;
  std::map<std::string, Taken> tensors_;
  double executed_macs_ = 0;  // of the forward passes of the steps that have ended
};

}  // namespace mantissa::train
