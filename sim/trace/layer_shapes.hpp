// Whether the tensors of one layer can belong together.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "sim/trace/trace.hpp"

namespace mantissa::trace {

// Output height or width of a convolution: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride)
// + 1. All are positive but padding, which is not negative. Zero where the kernel does not fit.
std::int64_t convolved_size(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                            std::int64_t dilation);

// The tensors of one layer, step by step. Parameters keep their shape from step to step; batch and image may
// change.
class LayerShapes {
 public:
  LayerShapes(const Layer& layer, std::string file);

  // By role; nullptr where there is none. Throws std::invalid_argument that names file and tensor.
  void check(const std::array<const TensorInfo*, role_count>& tensors);

 private:
  // Sizes that several tensors must agree about, and the tensor that gave each first.
  struct Size {
    std::int64_t value;
    std::string tensor;
  };
  using Sizes = std::map<std::string, Size>;

  [[noreturn]] void fail(const TensorInfo& tensor, const std::string& what) const;
  void expect(const TensorInfo& tensor, std::size_t dimension, const std::string& meaning,
              Sizes& sizes) const;
  void expect_rank(const TensorInfo& tensor, std::size_t rank, const char* form) const;
  void expect_same(const TensorInfo* tensor, const TensorInfo* model) const;
  void check_conv2d(const std::array<const TensorInfo*, role_count>& tensors);
  void check_linear(const std::array<const TensorInfo*, role_count>& tensors);
  void check_batchnorm(const std::array<const TensorInfo*, role_count>& tensors);
  void check_kernel(const TensorInfo& weight) const;
  void check_output(const TensorInfo& input, const TensorInfo& weight, const TensorInfo* output) const;

  const Layer& layer_;
  std::string file_;
  Sizes parameters_;
};

}  // namespace mantissa::trace
