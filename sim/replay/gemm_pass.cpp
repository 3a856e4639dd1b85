#include "sim/replay/gemm_pass.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "models/kernels/drain.hpp"
#include "models/kernels/gemm_float.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/tensor/lowered.hpp"
#include "models/tensor/nonzero_counts.hpp"
#include "models/tensor/products.hpp"
#include "models/tensor/scale_values.hpp"
#include "sim/replay/accumulator_sample.hpp"
#include "sim/replay/accuracy.hpp"

namespace mantissa::replay {
namespace {

// Elements of a lowered part: large enough for the kernels, small enough for memory.
constexpr std::int64_t part_elements = std::int64_t{1} << 22;

// One group's product, part by part: rows of A where A is the lowered operand, columns of B in the weight
// gradient, where B is.
class GroupProduct {
 public:
  GroupProduct(const GemmPass& pass, const LayerPlan& plan, const Step& step, const Architecture& arch,
               std::int64_t group, GemmPassResult& result, AccumulatorSample& sample)
      : pass_(pass),
        plan_(plan),
        step_(step),
        arch_(arch),
        group_(group),
        result_(result),
        sample_(sample),
        sides_(result.sides) {
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
  std::int64_t first_tile() const { return group_ * tiles_of(sides_, arch_.rows, arch_.cols); }

  void run_by_rows() {
    const Rectangle whole_b{0, sides_.k, 0, sides_.n};
    const Lowered b = lower(*pass_.second, GemmSide::b, whole_b);
    if (b.encoded) sample_.multiply_with(*b.encoded);
    // Whole tile rows, so that every output keeps its tile's number.
    const std::int64_t tile_row = arch_.rows * std::max<std::int64_t>(1, 192 / arch_.rows);
    const std::int64_t step = std::max<std::int64_t>(1, part_elements / sides_.k / tile_row) * tile_row;
    for (std::int64_t row = 0; row < sides_.m; row += step) {
      const Rectangle part{row, std::min(row + step, sides_.m), 0, sides_.k};
      const Lowered a = lower(*pass_.first, GemmSide::a, part);
      count_nonzero(a, part.rows());
      const std::int64_t tile = first_tile() + row / arch_.rows * ((sides_.n + arch_.cols - 1) / arch_.cols);
      const std::span<float> sums = sums_.subspan(row * sides_.n, part.rows() * sides_.n);
      const std::span<double> reference = reference_.subspan(row * sides_.n, part.rows() * sides_.n);
      multiply(a, b, part.rows(), sides_.n, tile, sums, reference);
      look_at_sums(a, row, sums, reference);
    }
  }

  void run_by_columns() {
    const Rectangle whole_a{0, sides_.m, 0, sides_.k};
    const Lowered a = lower(*pass_.first, GemmSide::a, whole_a);
    count_nonzero(a, sides_.m);
    std::int64_t step = std::max<std::int64_t>(1, part_elements / sides_.k / 64) * 64;
    // Random numbers of accumulators belong to tiles of the whole product.
    if (plan_.accumulator().stochastic()) step = sides_.n;
    for (std::int64_t col = 0; col < sides_.n; col += step) {
      const Rectangle part{0, sides_.k, col, std::min(col + step, sides_.n)};
      const Lowered b = lower(*pass_.second, GemmSide::b, part);
      std::vector<float> sums(sides_.m * part.cols());
      std::vector<double> reference(sums.size());
      multiply(a, b, sides_.m, part.cols(), first_tile(), sums, reference);
      if (b.encoded) sample_.multiply_with(*b.encoded);
      look_at_sums(a, 0, sums, reference);
      for (std::int64_t row = 0; row < sides_.m; ++row) {
        std::copy_n(sums.begin() + row * part.cols(), part.cols(), sums_.begin() + row * sides_.n + col);
        std::copy_n(reference.begin() + row * part.cols(), part.cols(),
                    reference_.begin() + row * sides_.n + col);
      }
    }
  }

  // A part of an operand as it was recorded, and as the array sees it.
  struct Lowered {
    EncodedTensor recorded;
    std::optional<EncodedTensor> encoded;  // none: it is FP32, as recorded
    const EncodedTensor& operand() const { return encoded ? *encoded : recorded; }
  };
  Lowered lower(const RecordedOperand& operand, GemmSide side, const Rectangle& part) const {
    const auto lower_form = [&](const EncodedTensor& tensor) {
      return lowered(tensor, side, pass_.geometry, pass_.pass, group_, part, step_.threads);
    };
    Lowered result{lower_form(EncodedTensor::fp32(operand.values)), std::nullopt};
    if (!operand.encoded.type().is_fp32()) result.encoded = lower_form(operand.encoded);
    return result;
  }

  void count_nonzero(const Lowered& a, std::int64_t rows) {
    std::vector<std::uint16_t>& counts = result_.nonzero[group_];
    const std::size_t before = counts.size();
    append_nonzero_counts(a.operand(), rows, sides_.k, arch_.window, step_.threads, counts);
    for (std::size_t i = before; i < counts.size(); ++i) result_.a_nonzero += counts[i];
  }

  void multiply(const Lowered& a, const Lowered& b, std::int64_t m, std::int64_t n, std::int64_t tile,
                std::span<float> sums, std::span<double> reference) {
    const auto recorded = [](const Lowered& each) {
      return each.recorded.as<EncodedTensor::Fp32>().values.get();
    };
    kernels::gemm_fp64({m, n, sides_.k, recorded(a), recorded(b)}, reference, step_.threads);
    const GemmOptions options{.accumulator = plan_.accumulator(),
                              .skip_zero_a = pass_.skip,
                              .rows = arch_.rows,
                              .draws = plan_.draws(step_, pass_.pass, RandomUnit::accumulator),
                              .first_tile = tile};
    result_.suppressed +=
        gemm({m, n, sides_.k}, a.operand(), b.operand(), options, sums, step_.threads).suppressed;
  }

  void look_at_sums(const Lowered& a, std::int64_t first_row, std::span<const float> sums,
                    std::span<const double> reference) {
    if (a.encoded) {
      sample_.add(*a.encoded, first_row, sums);
    } else {
      sample_.add(reference, sums);
    }
  }

  const GemmPass& pass_;
  const LayerPlan& plan_;
  const Step& step_;
  const Architecture& arch_;
  std::int64_t group_;
  GemmPassResult& result_;
  AccumulatorSample& sample_;
  PassSides sides_;
  std::span<float> sums_;
  std::span<double> reference_;
};

int operand_scale(const GemmPass& pass) { return pass.first->encoded.scale() + pass.second->encoded.scale(); }

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

// The sums of every group through the drain, to codes or to the numbers of codes.
template <class Out>
void drain_groups(const GemmPass& pass, const GemmPassResult& result, const LayerPlan& plan, const Step& step,
                  std::span<Out> out, ConversionCounts* counts) {
  const auto [m, n, k] = result.sides;
  const Conversion how = plan.drain_conversion(step, *result.drained, result.drain_scale);
  const DrawSource draws = plan.draws(step, pass.pass, RandomUnit::drain_quantizer);
  for (std::int64_t group = 0; group < pass.geometry.groups; ++group) {
    kernels::drain<Out>(
        std::span(result.sums).subspan(group * m * n, m * n), {m, n, 1}, how, draws,
        {.rows = step.rows, .first_tile = group * tiles_of(result.sides, step.rows, step.cols)},
        out.subspan(group * m * n, m * n), step.threads, counts);
  }
}

// Every number code * 2^-scale of the format is an FP32 number.
bool numbers_fit_fp32(const Format& format, int scale) {
  return format.max_exponent() - scale <= 127 && format.min_quantum() - scale >= -149;
}

void drain(const GemmPass& pass, LayerPlan& plan, const Step& step, GemmPassResult& result) {
  const int from_scale = operand_scale(pass);
  const Role role = result_role(pass.pass);
  result.drained = plan.drain(role);
  result.values = result.sums;
  if (!result.drained) {
    if (from_scale != 0) scale_values(result.values, -from_scale, result.values);
    return;
  }
  const std::vector<float> expected(result.reference.begin(), result.reference.end());
  result.output_scale = plan.scale(step, role, *result.drained, expected);
  result.drain_scale = result.output_scale - from_scale;
  const Format& format = result.drained->type.format();
  if (numbers_fit_fp32(format, result.drain_scale) && numbers_fit_fp32(format, result.output_scale)) {
    drain_groups<float>(pass, result, plan, step, result.values, &result.counts);
    // The drain gives code * 2^-drain_scale, the number is code * 2^-output_scale.
    if (from_scale != 0) scale_values(result.values, -from_scale, result.values);
    return;
  }
  std::vector<std::uint32_t> codes(result.sums.size());
  drain_groups<std::uint32_t>(pass, result, plan, step, codes, &result.counts);
  dequantize<std::uint32_t>(codes, {.to = format, .scale = result.output_scale}, result.values);
}

}  // namespace

std::vector<std::uint32_t> output_codes(const GemmPass& pass, const GemmPassResult& result,
                                        const LayerPlan& plan, const Step& step) {
  std::vector<std::uint32_t> codes(result.sums.size());
  if (!result.drained) {
    std::transform(result.sums.begin(), result.sums.end(), codes.begin(), fp32_bits);
    return codes;
  }
  drain_groups<std::uint32_t>(pass, result, plan, step, codes, nullptr);
  return codes;
}

std::vector<float> scaled_bias(const GemmPass& pass) {
  std::vector<float> scaled;
  for (const float bias : pass.bias)
    scaled.push_back(static_cast<float>(std::ldexp(static_cast<double>(bias), operand_scale(pass))));
  return scaled;
}

GemmShape shape_of(const GemmPass& pass, const GemmPassResult& result) {
  return {.m = result.sides.m,
          .n = result.sides.n,
          .k = result.sides.k,
          .a_bits = pass.first->encoded.type().bits(),
          .b_bits = pass.second->encoded.type().bits(),
          .c_bits = result.drained ? result.drained->type.bits() : formats::fp32.bits()};
}

ArrayFormats array_formats(const ElementType& a, const ElementType& b, const Accumulator& accumulator,
                           const std::optional<TensorFormat>& drain) {
  ArrayFormats array{.a = a, .b = b};
  if (array.integers()) return array;
  array.accumulator = accumulator.format;
  array.c = formats::fp32;
  if (drain) {
    array.c = drain->type.format();
    array.c_rounding = drain->rounding;
    array.c_overflow = drain->overflow;
  }
  return array;
}

GemmPassResult run_gemm_pass(const GemmPass& pass, LayerPlan& plan, const Step& step,
                             const Architecture& arch) {
  GemmPassResult result;
  result.sides = sides_of(pass.geometry, pass.pass);
  const std::int64_t groups = pass.geometry.groups;
  const auto [m, n, k] = result.sides;
  result.sums.resize(groups * m * n);
  result.reference.resize(result.sums.size());
  result.nonzero.resize(groups);
  result.a_elements = groups * m * k;
  AccumulatorSample sample(result.sides, groups, step.threads);
  for (std::int64_t group = 0; group < groups; ++group)
    GroupProduct(pass, plan, step, arch, group, result, sample).run();
  result.accumulator = sample.error();
  add_bias(pass, result);
  drain(pass, plan, step, result);

  std::optional<Grid> grid;
  if (result.drained) {
    grid = Grid{result.drained->type.format(), result.output_scale};
  } else if (!pass.first->encoded.type().is_integer()) {
    grid = Grid{};
  }
  result.accuracy = measure_accuracy<double>(result.values, result.reference, grid, step.threads);
  add_counts(result.accuracy, result.counts);
  return result;
}

}  // namespace mantissa::replay
