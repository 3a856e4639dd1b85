// Matrices of a layer's passes made from encoded tensors (ARITHMETIC.md 4), with what stands for zero in
// padding and holes.
#pragma once

#include <cstdint>
#include <vector>

#include "models/mac/lowering.hpp"
#include "models/tensor/encoded_tensor.hpp"

namespace mantissa {

enum class GemmSide : std::uint8_t { a, b };

// A part of A or B of one group, row-major, in the form of the tensor that it is made of.
EncodedTensor lowered(const EncodedTensor& tensor, GemmSide side, const ConvShape& shape, Pass pass,
                      std::int64_t group, const Rectangle& part, int threads);

}  // namespace mantissa
