#include "models/mac/gemm.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/dot.hpp"
#include "models/mac/fp8_mul.hpp"

namespace mantissa {
namespace {

// The draws of output (row, col); tiles are numbered as in ARITHMETIC.md 7.
DotDraws output_draws(const GemmOperands& operands, const GemmOptions& options, std::int64_t row,
                      std::int64_t col) {
  const Accumulator& how = options.accumulator;
  const DrawSource& source = options.draws;
  if (!how.stochastic()) return {Lfsr(1), Lfsr(1)};
  const std::int64_t tiles_across = (operands.n + source.lanes - 1) / source.lanes;
  const std::uint64_t tile = options.first_tile + row / options.rows * tiles_across + col / source.lanes;
  const std::uint64_t lane = col % source.lanes;
  const bool chunk = how.kind == Accumulator::Kind::chunk;
  return {source.lane(lane, tile * operands.k),
          source.lane(chunk ? lane + source.lanes : lane, tile * how.roundings(operands.k))};
}

}  // namespace

void check_gemm_sides(std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const std::int64_t side : {m, n, k}) {
    if (side < 0 || side > std::int64_t{1} << 31) {
      throw std::invalid_argument("a side of a GEMM must be 0..2^31, not " + std::to_string(side));
    }
  }
}

void check_gemm(const GemmOperands& operands, const GemmOptions& options, std::size_t outputs) {
  const auto [m, n, k] = std::tuple(operands.m, operands.n, operands.k);
  check_gemm_sides(m, n, k);
  const auto elements = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<unsigned __int128>(rows) * static_cast<unsigned __int128>(cols);
  };
  if (elements(m, k) != operands.a.size() || elements(k, n) != operands.b.size() ||
      elements(m, n) != outputs) {
    throw std::invalid_argument("GEMM of " + std::to_string(m) + " x " + std::to_string(n) + " x " +
                                std::to_string(k) + " does not fit its operands");
  }
  if (k > Accumulator::max_k) throw std::invalid_argument("GEMM with K above 2^24 is not supported");
  check_exact_product(operands.a_format, operands.b_format);
  options.accumulator.check();
  if (options.rows < 1) throw std::invalid_argument("an array needs at least one row");
  options.draws.check();
  if (options.accumulator.stochastic()) {
    check_leap(options.draws.leap, std::max(options.accumulator.rounding.random_bits,
                                            options.accumulator.inner_rounding.random_bits));
  }
}

GemmCounts gemm_block(const GemmOperands& operands, const GemmOptions& options, std::span<float> c,
                      std::int64_t row0, std::int64_t row1, std::int64_t col0, std::int64_t col1) {
  GemmCounts counts;
  const Accumulator& how = options.accumulator;
  std::vector<DotTerm> terms(operands.k);
  for (std::int64_t row = row0; row < row1; ++row) {
    for (std::int64_t col = col0; col < col1; ++col) {
      for (std::int64_t k = 0; k < operands.k; ++k) {
        const std::uint32_t a = operands.a[row * operands.k + k];
        const std::uint32_t b = operands.b[k * operands.n + col];
        Flags flags;
        if (options.skip_zero_a && operands.a_format.is_zero(a)) {
          if (operands.b_format.is_inf(b) || operands.b_format.is_nan(b)) ++counts.suppressed;
          terms[k] = {};
        } else {
          terms[k] = dot_term(a, operands.a_format, b, operands.b_format, flags);
        }
      }
      DotDraws draws = output_draws(operands, options, row, col);
      const std::uint32_t acc = dot(terms, how, draws).code;
      c[row * operands.n + col] = fp32_value(convert(acc, {.from = how.format, .to = formats::fp32}).code);
    }
  }
  return counts;
}

GemmCounts gemm(const GemmOperands& operands, const GemmOptions& options, std::span<float> c) {
  check_gemm(operands, options, c.size());
  return gemm_block(operands, options, c, 0, operands.m, 0, operands.n);
}

}  // namespace mantissa
