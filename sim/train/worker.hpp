// One worker of a run: its replica of the network, its images, its gradients.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/layer/pruning_plan.hpp"
#include "sim/train/fashion_mnist.hpp"
#include "sim/train/model.hpp"
#include "sim/train/recorder.hpp"
#include "sim/train/train_report.hpp"
#include "sim/workers/group.hpp"

namespace mantissa::train {

// What the others are told of a worker's step, or of a validation.
struct WorkerNews {
  double loss = 0;  // sum over the images
  std::int64_t correct = 0;
  bool finite = true;   // the gradient
  std::string problem;  // what is not finite in a loss that is not

  workers::Bytes packet() const;
  // Throws std::invalid_argument that names the worker.
  static WorkerNews read(int worker, const workers::Bytes& packet);
};

class Worker {
 public:
  // Model and data must outlive the worker, and so must the recorder, if there is one.
  Worker(int index, Model& model, const FashionMnist& data, Recorder* recorder = nullptr);

  int index() const { return index_; }
  Model& model() { return *model_; }

  // Forward and backward pass over these images; the gradients stay in the model, multiplied by
  // 2^loss_exponent. Without a finite loss there is no backward pass. `describe` gets the errors of all
  // layers that multiply, where somebody wants them.
  WorkerNews train(Step step, std::span<const std::int32_t> images, int loss_exponent,
                   std::vector<GradientReport>* describe);
  // All images of the validation set.
  WorkerNews validate(const Step& step);
  // Thresholds of the step's gradients, if it is one that refreshes them.
  void refresh(const Step& step, bool updated);

 private:
  void load_batch(const Images& images, std::span<const std::int32_t> order);
  Watcher watcher_of(const Step& step, std::vector<GradientReport>* describe);

  int index_;
  Model* model_;
  const FashionMnist* data_;
  Recorder* recorder_;
  std::optional<PruningPlan> pruning_;
  std::vector<std::uint8_t> labels_;
  std::vector<float> score_gradient_;
};

}  // namespace mantissa::train
