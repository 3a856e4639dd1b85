#include "sim/replay/gemm_pass.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/kernels/gemm.hpp"
#include "models/kernels/gemm_float.hpp"
#include "models/kernels/quantize.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/stream_id.hpp"
#include "sim/arch/nonzero_counts.hpp"
#include "sim/replay/drain.hpp"

namespace mantissa::replay {
namespace {

// Elements of a lowered part: large enough for the kernels, small enough for memory.
constexpr std::int64_t part_elements = std::int64_t{1} << 22;

// One group's product, part by part: rows of A where A is the lowered operand, columns of B in the weight
// gradient, where B is.
class GroupProduct {
 public:
  GroupProduct(const GemmPass& pass, const Architecture& arch, std::int64_t group, int threads,
               GemmPassResult& result)
      : pass_(pass), arch_(arch), group_(group), threads_(threads), result_(result), sides_(result.sides) {
    const std::int64_t outputs = sides_.m * sides_.n;
    sums_ = std::span(result.sums).subspan(group * outputs, outputs);
    reference_ = std::span(result.reference).subspan(group * outputs, outputs);
  }

  void run() {
    if (pass_.pass == Pass::weight_gradient) {
      run_by_columns();
    } else {
      run_by_rows();
    }
  }

 private:
  std::int64_t first_tile() const {
    return group_ * ((sides_.m + arch_.rows - 1) / arch_.rows) * ((sides_.n + arch_.cols - 1) / arch_.cols);
  }

  void run_by_rows() {
    const Rectangle whole_b{0, sides_.k, 0, sides_.n};
    const Lowered b = lower_second(whole_b);
    // Whole tile rows, so that every output keeps its tile's number.
    const std::int64_t tile_row = arch_.rows * std::max<std::int64_t>(1, 192 / arch_.rows);
    const std::int64_t step = std::max<std::int64_t>(1, part_elements / sides_.k / tile_row) * tile_row;
    for (std::int64_t row = 0; row < sides_.m; row += step) {
      const Rectangle part{row, std::min(row + step, sides_.m), 0, sides_.k};
      const Lowered a = lower_first(part);
      count_nonzero(a, part.rows());
      const std::int64_t tile = first_tile() + row / arch_.rows * ((sides_.n + arch_.cols - 1) / arch_.cols);
      multiply(a, b, part.rows(), sides_.n, tile, sums_.subspan(row * sides_.n, part.rows() * sides_.n),
               reference_.subspan(row * sides_.n, part.rows() * sides_.n));
    }
  }

  void run_by_columns() {
    const Rectangle whole_a{0, sides_.m, 0, sides_.k};
    const Lowered a = lower_first(whole_a);
    count_nonzero(a, sides_.m);
    std::int64_t step = std::max<std::int64_t>(1, part_elements / sides_.k / 64) * 64;
    // Random numbers of accumulators belong to tiles of the whole product.
    if (pass_.accumulator.stochastic()) step = sides_.n;
    for (std::int64_t col = 0; col < sides_.n; col += step) {
      const Rectangle part{0, sides_.k, col, std::min(col + step, sides_.n)};
      const Lowered b = lower_second(part);
      std::vector<float> sums(sides_.m * part.cols());
      std::vector<double> reference(sums.size());
      multiply(a, b, sides_.m, part.cols(), first_tile(), sums, reference);
      for (std::int64_t row = 0; row < sides_.m; ++row) {
        std::copy_n(sums.begin() + row * part.cols(), part.cols(), sums_.begin() + row * sides_.n + col);
        std::copy_n(reference.begin() + row * part.cols(), part.cols(),
                    reference_.begin() + row * sides_.n + col);
      }
    }
  }

  // A part of an operand as the array sees it and as it was recorded.
  struct Lowered {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint16_t> integers;
    std::vector<float> values;
  };

  template <class Lower>
  Lowered lower(const Operand& operand, const Rectangle& part, const Lower& lower_part) {
    Lowered lowered;
    lowered.values.resize(part.elements());
    lower_part(std::span<const float>(operand.values), 0.0F, std::span(lowered.values));
    if (operand.arithmetic == Arithmetic::floating) {
      lowered.codes.resize(part.elements());
      lower_part(std::span<const std::uint8_t>(operand.codes), std::uint8_t{0}, std::span(lowered.codes));
    } else if (operand.arithmetic == Arithmetic::gemmlowp) {
      lowered.integers.resize(part.elements());
      lower_part(std::span<const std::uint16_t>(operand.integers), operand.integer_zero(),
                 std::span(lowered.integers));
    }
    return lowered;
  }
  Lowered lower_first(const Rectangle& part) {
    return lower(*pass_.first, part, [&]<class Element>(std::span<const Element> in, Element zero, auto out) {
      lower_a<Element>(pass_.geometry, pass_.pass, group_, part, in, zero, out, threads_);
    });
  }
  Lowered lower_second(const Rectangle& part) {
    return lower(*pass_.second, part,
                 [&]<class Element>(std::span<const Element> in, Element zero, auto out) {
                   lower_b<Element>(pass_.geometry, pass_.pass, group_, part, in, zero, out, threads_);
                 });
  }

  void count_nonzero(const Lowered& a, std::int64_t rows) {
    if (pass_.first->arithmetic == Arithmetic::gemmlowp) return;  // no integer is a zero that can be left out
    std::vector<std::uint16_t>& counts = result_.nonzero[group_];
    const std::size_t before = counts.size();
    if (pass_.first->arithmetic == Arithmetic::floating) {
      append_nonzero_counts(a.codes, nonzero_mask(pass_.first->format), rows, sides_.k, arch_.window,
                            threads_, counts);
    } else {
      append_nonzero_counts(a.values, rows, sides_.k, arch_.window, threads_, counts);
    }
    for (std::size_t i = before; i < counts.size(); ++i) result_.a_nonzero += counts[i];
  }

  void multiply(const Lowered& a, const Lowered& b, std::int64_t m, std::int64_t n, std::int64_t tile,
                std::span<float> sums, std::span<double> reference) {
    const std::int64_t k = sides_.k;
    kernels::gemm_fp64({m, n, k, a.values, b.values}, reference, threads_);
    const Operand& x = *pass_.first;
    const Operand& y = *pass_.second;
    if (x.arithmetic == Arithmetic::floating) {
      const GemmOptions options{.accumulator = pass_.accumulator,
                                .skip_zero_a = pass_.skip,
                                .rows = arch_.rows,
                                .draws = draws_of(pass_, arch_, RandomUnit::accumulator),
                                .first_tile = tile};
      const GemmOperands operands{m, n, k, a.codes, b.codes, x.format, y.format};
      result_.suppressed += kernels::gemm(operands, options, sums, threads_).suppressed;
    } else if (x.arithmetic == Arithmetic::gemmlowp) {
      const IntGemmOperands operands{m, n, k, x.matrix(a.integers), y.matrix(b.integers)};
      kernels::int_gemm(operands, sums, threads_);
    } else {
      kernels::gemm_float({m, n, k, a.values, b.values}, sums, threads_);
    }
  }

  const GemmPass& pass_;
  const Architecture& arch_;
  std::int64_t group_;
  int threads_;
  GemmPassResult& result_;
  PassSides sides_;
  std::span<float> sums_;
  std::span<double> reference_;
};

int operand_scale(const GemmPass& pass) {
  return pass.first->arithmetic == Arithmetic::floating ? pass.first->scale + pass.second->scale : 0;
}

// Sums are in the scale of the operands, the reference in that of the recorded numbers.
void add_bias(const GemmPass& pass, GemmPassResult& result) {
  if (pass.bias.empty()) return;
  const auto [m, n, k] = result.sides;
  const std::vector<float> scaled = scaled_bias(pass);
  for (std::int64_t group = 0; group < pass.geometry.groups; ++group) {
    for (std::int64_t i = 0; i < m * n; ++i) {
      const std::int64_t at = group * m * n + i;
      const std::int64_t channel = group * n + i % n;
      result.sums[at] = f32::add(result.sums[at], scaled[channel]);
      result.reference[at] += static_cast<double>(pass.bias[channel]);
    }
  }
}

template <class Code>
void drain_codes(const GemmPass& pass, const Architecture& arch, const Conversion& how,
                 GemmPassResult& result, int threads) {
  const DrainedProduct product{
      .groups = pass.geometry.groups, .m = result.sides.m, .n = result.sides.n, .rows = arch.rows};
  std::vector<Code> codes(result.sums.size());
  result.counts = drain_quantize<Code>(result.sums, product, how,
                                       draws_of(pass, arch, RandomUnit::drain_quantizer), codes, threads);
  result.codes.assign(codes.begin(), codes.end());
  result.values.resize(codes.size());
  const Conversion back{.to = how.to, .scale = result.output_scale};
  if constexpr (sizeof(Code) == 1) {
    kernels::dequantize(codes, back, result.values, threads);
  } else {
    dequantize<Code>(codes, back, result.values);
  }
}

void drain(const GemmPass& pass, const Architecture& arch, GemmPassResult& result, int threads) {
  const int from_scale = operand_scale(pass);
  if (!pass.output) {
    result.values = result.sums;
    if (from_scale != 0) {
      for (float& x : result.values) x = static_cast<float>(std::ldexp(static_cast<double>(x), -from_scale));
    }
    return;
  }
  const TensorFormat& how = *pass.output;
  const std::vector<float> expected(result.reference.begin(), result.reference.end());
  result.output_scale = scale_exponent(how, pass.loss_exponent, expected);
  result.drain_scale = result.output_scale - from_scale;
  if (result.drain_scale < min_quantizer_scale || result.drain_scale > max_quantizer_scale) {
    throw std::invalid_argument("the drain quantizer would need a scale of 2^" +
                                std::to_string(result.drain_scale) + "; its register holds " +
                                std::to_string(min_quantizer_scale) + ".." +
                                std::to_string(max_quantizer_scale));
  }
  const Conversion conversion{.to = how.format,
                              .rounding = how.rounding,
                              .overflow = how.overflow,
                              .via_fp16 = how.via_fp16,
                              .scale = result.drain_scale};
  if (how.format.bits() <= 8) {
    drain_codes<std::uint8_t>(pass, arch, conversion, result, threads);
  } else if (how.format.bits() <= 16) {
    drain_codes<std::uint16_t>(pass, arch, conversion, result, threads);
  } else {
    drain_codes<std::uint32_t>(pass, arch, conversion, result, threads);
  }
}

// The other simulators' dataflows have no memory: their cycles are all compute, and nothing is skipped.
GemmCycles cost_of(const Architecture& arch, const GemmShape& shape, bool skip,
                   std::span<const std::uint16_t> nonzero) {
  if (arch.dataflow == Dataflow::os_skip) return gemm_cycles(arch, shape, skip, nonzero);
  const FoldCycles folds = fold_cycles(arch.dataflow, arch.rows, arch.cols, shape.m, shape.n, shape.k);
  GemmCycles cost;
  cost.compute = folds.cycles;
  cost.macs = static_cast<std::uint64_t>(shape.m) * shape.n * shape.k;
  cost.tiles = cost.steps = folds.folds;
  return cost;
}

}  // namespace

DrawSource draws_of(const GemmPass& pass, const Architecture& arch, RandomUnit unit) {
  StreamId stream = pass.stream;
  stream.pass = pass.pass;
  stream.unit = unit;
  stream.operand = mantissa::Operand::output;
  return {.run_seed = pass.run_seed, .stream = stream.value(), .lanes = arch.cols};
}

std::vector<float> scaled_bias(const GemmPass& pass) {
  std::vector<float> scaled;
  for (const float bias : pass.bias)
    scaled.push_back(static_cast<float>(std::ldexp(static_cast<double>(bias), operand_scale(pass))));
  return scaled;
}

GemmShape shape_of(const GemmPass& pass, const PassSides& sides) {
  return {.m = sides.m,
          .n = sides.n,
          .k = sides.k,
          .a_bits = pass.first->bits(),
          .b_bits = pass.second->bits(),
          .c_bits = pass.output ? pass.output->format.bits() : 32};
}

std::optional<ArrayFormats> array_formats(const GemmPass& pass) {
  if (pass.first->arithmetic == Arithmetic::gemmlowp)
    return ArrayFormats{.integers = IntegerWidths{pass.first->range.bits, pass.second->range.bits}};
  if (pass.first->arithmetic != Arithmetic::floating) return std::nullopt;
  ArrayFormats formats{.a = pass.first->format,
                       .b = pass.second->format,
                       .accumulator = pass.accumulator.format,
                       .c = formats::fp32};
  if (pass.output) {
    formats.c = pass.output->format;
    formats.c_rounding = pass.output->rounding;
    formats.c_overflow = pass.output->overflow;
  }
  return formats;
}

GemmPassResult run_gemm_pass(const GemmPass& pass, const Architecture& arch, int threads) {
  GemmPassResult result;
  result.sides = sides_of(pass.geometry, pass.pass);
  const std::int64_t groups = pass.geometry.groups;
  const auto [m, n, k] = result.sides;
  result.sums.resize(groups * m * n);
  result.reference.resize(result.sums.size());
  result.nonzero.resize(groups);
  result.a_elements = groups * m * k;
  for (std::int64_t group = 0; group < groups; ++group) {
    GroupProduct(pass, arch, group, threads, result).run();
  }
  add_bias(pass, result);
  drain(pass, arch, result, threads);

  const GemmShape shape = shape_of(pass, result.sides);
  for (std::int64_t group = 0; group < groups; ++group) {
    result.cost += cost_of(arch, shape, pass.skip, result.nonzero[group]);
    result.dense_cycles += cost_of(arch, shape, false, {}).cycles();
  }

  std::optional<Grid> grid;
  if (pass.output) {
    grid = Grid{pass.output->format, result.output_scale};
  } else if (pass.first->arithmetic != Arithmetic::gemmlowp) {
    grid = Grid{};
  }
  result.accuracy = measure_accuracy<double>(result.values, result.reference, grid, threads);
  add_counts(result.accuracy, result.counts);
  return result;
}

}  // namespace mantissa::replay
