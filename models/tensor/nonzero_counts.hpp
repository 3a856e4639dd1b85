// How many elements of A are not zero, per row and window: all that the closed form needs to know of a
// tensor's values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/format/format.hpp"
#include "models/mac/pass_phases.hpp"
#include "models/tensor/encoded_tensor.hpp"

namespace mantissa {

// The bits that make a code of at most 8 bits non-zero: either zero is zero, NaN is not.
std::uint8_t nonzero_mask(const Format& format);

// A[rows, k], row-major: appends rows * ceil(k / window) counts, row-major. An element is zero where it has
// no bit of `mask` (0xFF for integers). Throws std::invalid_argument for sizes that do not fit.
void append_nonzero_counts(std::span<const std::uint8_t> a, std::uint8_t mask, std::int64_t rows,
                           std::int64_t k, int window, int threads, std::vector<std::uint16_t>& counts);
// The same for a tensor that is kept as FP32.
void append_nonzero_counts(std::span<const float> a, std::int64_t rows, std::int64_t k, int window,
                           int threads, std::vector<std::uint16_t>& counts);

// The same for a lowered matrix in any form. An integer of the GEMMLOWP quantizer is no zero that could be
// left out: of those nothing is counted and nothing appended.
void append_nonzero_counts(const EncodedTensor& a, std::int64_t rows, std::int64_t k, int window, int threads,
                           std::vector<std::uint16_t>& counts);

// The same for the rows of one phase of a pass (ARITHMETIC.md 7, "Blocks"), of the pass's first tensor as it
// is.
void append_phase_nonzero_counts(const EncodedTensor& first, const ConvShape& geometry,
                                 const PassPhase& phase, std::int64_t group, int window, int threads,
                                 std::vector<std::uint16_t>& counts);

// Non-zero elements of every run of `length`, for codes: what packed lines (ARITHMETIC.md 13) keep of them.
// Nothing for FP32 and integers.
std::vector<std::uint32_t> nonzero_per_run(const EncodedTensor& tensor, std::int64_t length, int threads);

}  // namespace mantissa
