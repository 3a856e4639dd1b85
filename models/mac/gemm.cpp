#include "models/mac/gemm.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/fp8_mac.hpp"
#include "models/mac/wide_sum.hpp"

namespace mantissa {
namespace {

struct Product {
  Exact value;
  int raw_exponent = 0;  // e_a + e_b, not renormalised
};

// Random words of one output: `inner` per k, `outer` per rounding.
struct OutputDraws {
  Lfsr inner;
  Lfsr outer;
};

int operand_exponent(std::uint32_t code, const Format& format) {
  const int field = static_cast<int>((code & format.magnitude_mask()) >> format.mantissa_bits);
  return std::max(field, 1) - format.bias;
}

// Inside a GEMM a step that rounds to zero gives +0.
std::uint32_t positive_zero(std::uint32_t code, const Format& format) {
  return format.is_zero(code) ? 0 : code;
}

std::uint32_t rounded_sum(const Exact& value, const Format& format, Rounding rounding, std::uint32_t draw) {
  return positive_zero(round(value, format, rounding, draw, Overflow::ieee).code, format);
}

std::uint32_t accumulate_plain(std::span<const Product> products, const Format& format, Rounding rounding,
                               Lfsr& draws) {
  std::uint32_t acc = 0;
  for (const Product& product : products) {
    const std::uint32_t draw = rounding.stochastic() ? draws.draw() : 0;
    if (product.value.is_zero()) continue;
    Flags flags;
    acc = rounded_sum(add(decode(acc, format), product.value, flags), format, rounding, draw);
  }
  return acc;
}

std::uint32_t accumulate_chunk(std::span<const Product> products, const Accumulator& how,
                               OutputDraws& draws) {
  std::uint32_t outer = 0;
  for (std::size_t first = 0; first < products.size(); first += how.group) {
    const auto group = products.subspan(first, std::min<std::size_t>(how.group, products.size() - first));
    const std::uint32_t inner = accumulate_plain(group, how.inner_format, how.inner_rounding, draws.inner);
    const std::uint32_t draw = how.rounding.stochastic() ? draws.outer.draw() : 0;
    Flags flags;
    const Exact sum = add(decode(outer, how.format), decode(inner, how.inner_format), flags);
    outer = rounded_sum(sum, how.format, how.rounding, draw);
  }
  return outer;
}

// Any NaN, or Inf of both signs: NaN; else any Inf: that Inf; else zero ("nothing special").
Exact special_of(const Exact& acc, std::span<const Product> products) {
  bool positive = acc.is_inf() && !acc.negative;
  bool negative = acc.is_inf() && acc.negative;
  bool nan = acc.is_nan();
  for (const Product& product : products) {
    nan |= product.value.is_nan();
    positive |= product.value.is_inf() && !product.value.negative;
    negative |= product.value.is_inf() && product.value.negative;
  }
  if (nan || (positive && negative)) return Exact::nan();
  if (positive || negative) return Exact::inf(negative);
  return Exact::zero(false);
}

bool all_zero(std::span<const Product> products) {
  return std::all_of(products.begin(), products.end(), [](const Product& p) { return p.value.is_zero(); });
}

std::uint32_t add_fused(std::uint32_t acc, std::span<const Product> group, const Accumulator& how,
                        std::uint32_t draw) {
  const Exact value = decode(acc, how.format);
  const Exact special = special_of(value, group);
  if (!special.is_zero()) return round(special, how.format, how.rounding, draw, Overflow::ieee).code;
  WideSum sum;
  sum.add(value);
  for (const Product& product : group) sum.add(product.value);
  return rounded_sum(sum.value(), how.format, how.rounding, draw);
}

std::uint32_t add_aligned_group(std::uint32_t acc, std::span<const Product> group, const Accumulator& how) {
  const Exact value = decode(acc, how.format);
  const Exact special = special_of(value, group);
  if (!special.is_zero()) return round(special, how.format, Rounding::rtz(), 0, Overflow::ieee).code;
  int largest = formats::fp32.min_quantum();
  if (!value.is_zero()) largest = std::max(largest, operand_exponent(acc, how.format));
  for (const Product& product : group) {
    if (!product.value.is_zero()) largest = std::max(largest, product.raw_exponent);
  }
  // Everything is a multiple of FP32's smallest number: truncating below it would do nothing.
  const int quantum = std::max(largest - how.aligned_bits, formats::fp32.min_quantum());
  WideSum sum;
  const auto add_truncated = [&](const Exact& term) {
    if (term.is_zero()) return;
    // 2^63 quanta and more: every bit of the significand is a whole quantum, nothing to truncate.
    if (term.exponent - quantum >= 63) return sum.add(term);
    const std::uint64_t count = round_to_multiple(term, quantum, Rounding::rtz(), 0).count;
    sum.add(Exact::integer(term.negative, count, quantum));
  };
  add_truncated(value);
  for (const Product& product : group) add_truncated(product.value);
  return rounded_sum(sum.value(), how.format, Rounding::rtz(), 0);
}

// fused, aligned and kulisch: a group whose products are all zero leaves the accumulator unchanged.
// add_group(acc, group, draw) gives the next accumulator.
template <class Add>
std::uint32_t accumulate_groups(std::span<const Product> products, const Accumulator& how, Lfsr& draws,
                                const Add& add_group) {
  const auto size = static_cast<std::size_t>(how.group_of(static_cast<std::int64_t>(products.size())));
  std::uint32_t acc = 0;
  for (std::size_t first = 0; first < products.size(); first += size) {
    const auto group = products.subspan(first, std::min(size, products.size() - first));
    const std::uint32_t draw = how.rounding.stochastic() ? draws.draw() : 0;
    if (!all_zero(group)) acc = add_group(acc, group, draw);
  }
  return acc;
}

std::uint32_t accumulate_all(std::span<const Product> products, const Accumulator& how, OutputDraws& draws) {
  switch (how.kind) {
    case Accumulator::Kind::plain:
      return accumulate_plain(products, how.format, how.rounding, draws.outer);
    case Accumulator::Kind::chunk:
      return accumulate_chunk(products, how, draws);
    case Accumulator::Kind::fused:
    case Accumulator::Kind::kulisch:
      return accumulate_groups(products, how, draws.outer,
                               [&](std::uint32_t acc, std::span<const Product> group, std::uint32_t draw) {
                                 return add_fused(acc, group, how, draw);
                               });
    case Accumulator::Kind::aligned:
      return accumulate_groups(products, how, draws.outer,
                               [&](std::uint32_t acc, std::span<const Product> group, std::uint32_t) {
                                 return add_aligned_group(acc, group, how);
                               });
  }
  throw std::logic_error("an accumulator of a kind that check() refuses");
}

// The draws of output (row, col); tiles are numbered as in ARITHMETIC.md 7.
OutputDraws output_draws(const GemmOperands& operands, const GemmOptions& options, std::int64_t row,
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
  std::vector<Product> products(operands.k);
  for (std::int64_t row = row0; row < row1; ++row) {
    for (std::int64_t col = col0; col < col1; ++col) {
      for (std::int64_t k = 0; k < operands.k; ++k) {
        const std::uint32_t a = operands.a[row * operands.k + k];
        const std::uint32_t b = operands.b[k * operands.n + col];
        Flags flags;
        const Exact x = decode(a, operands.a_format, flags);
        const Exact y = decode(b, operands.b_format, flags);
        const bool skipped = options.skip_zero_a && x.is_zero();
        if (skipped && (y.is_inf() || y.is_nan())) ++counts.suppressed;
        products[k].value = skipped ? Exact::zero(false) : multiply(x, y, flags);
        products[k].raw_exponent =
            operand_exponent(a, operands.a_format) + operand_exponent(b, operands.b_format);
      }
      OutputDraws draws = output_draws(operands, options, row, col);
      const std::uint32_t acc = accumulate_all(products, how, draws);
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
