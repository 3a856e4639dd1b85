// The float quantizer from FP32 to FP32, where values come out on the format's grid as quantize followed by
// dequantize gives them, without codes between; and the drain of a GEMM, to codes or to such values.
#pragma once

#include <cstdint>
#include <span>

#include "models/norm/norm_shape.hpp"
#include "models/quantize/quantizer.hpp"

namespace mantissa::kernels {

// The plain tensor quantizer: element i takes draw i / lanes of lane i mod lanes. What was met is added to
// `counts` where it is asked for. `rounded` may be `values` itself.
void round_values(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                  std::span<float> rounded, int threads = 1, ConversionCounts* counts = nullptr);

// Where the outputs of a GEMM leave an array with a column for each lane of the draws.
struct DrainTiles {
  std::int64_t rows = 16;
  std::int64_t first_tile = 0;
};

// The drain quantizer on the sums of a GEMM as they lie in the layer's output: m = (batch, spatial), n =
// channel. Output (m, n) of tile t takes draw t*Rows + (m mod Rows) of lane n mod Cols, tiles numbered with N
// inside M (ARITHMETIC.md 7). Row-major sums [m, n] are the shape {m, n, 1}. Out is float for the numbers
// that the codes stand for, which may go where the sums are, and std::uint8_t, std::uint16_t or std::uint32_t
// for the codes.
template <class Out>
void drain(std::span<const float> sums, const NormShape& shape, const Conversion& how,
           const DrawSource& draws, const DrainTiles& tiles, std::span<Out> out, int threads = 1,
           ConversionCounts* counts = nullptr);

}  // namespace mantissa::kernels
