// A batch norm in training, standard or Range BN as the recipe says (ARITHMETIC.md 8), with the running
// statistics that validation uses.
#pragma once

#include <span>
#include <vector>

#include "models/kernels/norm.hpp"
#include "sim/layer/layer_plan.hpp"
#include "sim/train/layer_counts.hpp"
#include "sim/train/network.hpp"
#include "sim/train/tensor.hpp"

namespace mantissa::train {

// Averages over steps, by which validation normalises. `scale` is 1/inv: the deviation, or Range BN's s. Both
// are 0 before the first step.
struct RunningStatistics {
  std::vector<float> mean;
  std::vector<float> scale;
};

class NormLayer {
 public:
  NormLayer(Node node, LayerPlan plan);

  LayerPlan& plan() { return plan_; }
  const LayerPlan& plan() const { return plan_; }
  LayerCounts& counts() { return counts_; }
  const LayerCounts& counts() const { return counts_; }
  RunningStatistics& running() { return running_; }
  const RunningStatistics& running() const { return running_; }

  // x must stay where it is until the backward pass of the same step.
  void forward(const Step& step, const Tensor& x, std::span<const float> gamma, std::span<const float> beta,
               Tensor& y);

  struct Gradients {
    Tensor* x = nullptr;
    std::span<float> gamma;
    std::span<float> beta;
  };
  void backward(const Step& step, const Tensor& g, const Gradients& gradients);

 private:
  void normalise(const Step& step, std::span<const float> gamma, std::span<const float> beta, Tensor& y);
  void validate(const Step& step, std::span<const float> gamma, std::span<const float> beta, Tensor& y);
  void average(std::span<const float> mean, std::span<const float> inv);
  // What the units are given of x or g, in `storage` where it is not there already.
  std::span<const float> read(const Step& step, const OperandSite& site, const Tensor& source,
                              ConversionCounts& counts, EncodedTensor& encoded, std::vector<float>& storage);
  void drain(const Step& step, Pass pass, Role role, ConversionCounts& counts, Tensor& result);

  Node node_;
  LayerPlan plan_;
  NormRule rule_;  // for channels of this batch
  LayerCounts counts_;
  RunningStatistics running_;
  NormShape shape_;
  EncodedTensor x_;
  EncodedTensor g_;
  std::span<const float> plain_;  // x as numbers
  std::vector<float> plain_storage_;
  std::vector<float> g_storage_;
  std::vector<float> gamma_;
  std::vector<BatchNormSaved> saved_;
  RangeBnTensorSaved range_saved_;
};

}  // namespace mantissa::train
