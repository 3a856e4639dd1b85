#include "models/kernels/gemm.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "models/kernels/gemm_aligned.hpp"
#include "models/kernels/gemm_fp32.hpp"
#include "models/kernels/gemm_rounded.hpp"
#include "models/parallel/parallel.hpp"

namespace mantissa::kernels {
namespace {

GemmCounts scalar_gemm(const GemmOperands& operands, const GemmOptions& options, std::span<float> c,
                       int threads) {
  std::atomic<std::uint64_t> suppressed{0};
  parallel_ranges(operands.m, 1, threads, [&](std::int64_t row0, std::int64_t row1) {
    suppressed += gemm_block(operands, options, c, row0, row1, 0, operands.n).suppressed;
  });
  return {suppressed};
}

// Columns of B with an Inf or NaN: there, and only there, skipping a zero of A changes the result.
std::vector<std::int64_t> special_columns(const GemmOperands& operands) {
  const Format& format = operands.b_format;
  bool special[256];
  for (std::uint32_t code = 0; code < 256; ++code) {
    special[code] = format.is_nan(code & format.code_mask()) || format.is_inf(code & format.code_mask());
  }
  std::vector<bool> found(operands.n, false);
  for (std::int64_t k = 0; k < operands.k; ++k) {
    for (std::int64_t j = 0; j < operands.n; ++j) {
      if (special[operands.b[k * operands.n + j]]) found[j] = true;
    }
  }
  std::vector<std::int64_t> columns;
  for (std::int64_t j = 0; j < operands.n; ++j) {
    if (found[j]) columns.push_back(j);
  }
  return columns;
}

}  // namespace

GemmCounts gemm(const GemmOperands& operands, const GemmOptions& options, std::span<float> c, int threads) {
  check_gemm(operands, options, c.size());
  const Accumulator& how = options.accumulator;
  const bool fp32_operands = exact_in_fp32(operands.a_format) && exact_in_fp32(operands.b_format);
  if (how.is_fp32_rne() && fp32_operands) {
    gemm_fp32(operands, c, threads);
  } else if (gemm_aligned_supports(operands, how)) {
    gemm_aligned(operands, options, c, threads);
  } else if (gemm_rounded_supports(operands, how)) {
    gemm_rounded(operands, options, c, threads);
  } else {
    return scalar_gemm(operands, options, c, threads);
  }
  GemmCounts counts;
  if (options.skip_zero_a) {
    const std::vector<std::int64_t> columns = special_columns(operands);
    std::atomic<std::uint64_t> suppressed{0};
    parallel_ranges(
        static_cast<std::int64_t>(columns.size()), 1, threads, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            suppressed +=
                gemm_block(operands, options, c, 0, operands.m, columns[i], columns[i] + 1).suppressed;
          }
        });
    counts.suppressed = suppressed;
  }
  return counts;
}

}  // namespace mantissa::kernels
