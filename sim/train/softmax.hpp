// Softmax with cross-entropy: the loss of a batch and where its gradient begins.
#pragma once

#include <cstdint>
#include <span>

namespace mantissa::train {

struct BatchLoss {
  double loss = 0;           // sum over the images
  std::int64_t correct = 0;  // images whose largest score is their class's; the first among equals
};

// scores [batch, classes]; `gradient` gets (softmax - one-hot) / batch * scale, rounded once to FP32; empty:
// it is not wanted. Computed in FP64 by operations that every machine rounds alike.
BatchLoss softmax_cross_entropy(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                double scale, std::span<float> gradient);

// e^x and ln x in FP64 to about 1e-15, of additions, multiplications and divisions alone: libm's differ in
// the last place from machine to machine, and a training run would drift apart there.
double portable_exp(double x);
double portable_log(double x);

}  // namespace mantissa::train
