#include "models/mac/dot.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "models/mac/wide_sum.hpp"

namespace mantissa {
namespace {

using Terms = std::span<const DotTerm>;

int operand_exponent(std::uint32_t code, const Format& format) {
  const int field = static_cast<int>((code & format.magnitude_mask()) >> format.mantissa_bits);
  return std::max(field, 1) - format.bias;
}

// A register and the flags that it has met.
struct Register {
  std::uint32_t code = 0;
  Flags flags = {};

  void round_to(const Exact& value, const Format& format, Rounding rounding, std::uint32_t draw) {
    const Rounded rounded = round(value, format, rounding, draw, Overflow::ieee);
    code = rounded.code;
    flags |= rounded.flags;
  }
  // Inside a GEMM a step that rounds to zero gives +0.
  void take_sum(const Exact& value, const Format& format, Rounding rounding, std::uint32_t draw) {
    round_to(value, format, rounding, draw);
    if (format.is_zero(code)) code = 0;
  }
};

void accumulate_plain(Register& acc, Terms terms, const Format& format, Rounding rounding, Lfsr& draws) {
  for (const DotTerm& term : terms) {
    const std::uint32_t draw = rounding.stochastic() ? draws.draw() : 0;
    if (term.value.is_zero()) continue;
    acc.take_sum(add(decode(acc.code, format), term.value, acc.flags), format, rounding, draw);
  }
}

// Any NaN, or Inf of both signs: NaN; else any Inf: that Inf; else zero ("nothing special").
Exact special_of(const Exact& acc, Terms group, Flags& flags) {
  bool positive = acc.is_inf() && !acc.negative;
  bool negative = acc.is_inf() && acc.negative;
  bool nan = acc.is_nan();
  for (const DotTerm& term : group) {
    nan |= term.value.is_nan();
    positive |= term.value.is_inf() && !term.value.negative;
    negative |= term.value.is_inf() && term.value.negative;
  }
  flags.invalid |= positive && negative;
  if (nan || (positive && negative)) return Exact::nan();
  if (positive || negative) return Exact::inf(negative);
  return Exact::zero(false);
}

bool all_zero(Terms group) {
  return std::all_of(group.begin(), group.end(), [](const DotTerm& term) { return term.value.is_zero(); });
}

void add_fused(Register& acc, Terms group, const Accumulator& how, DotDraws& draws) {
  const std::uint32_t draw = how.rounding.stochastic() ? draws.outer.draw() : 0;
  if (all_zero(group)) return;
  const Exact value = decode(acc.code, how.format);
  const Exact special = special_of(value, group, acc.flags);
  if (!special.is_zero()) return acc.round_to(special, how.format, how.rounding, draw);
  WideSum sum;
  sum.add(value);
  for (const DotTerm& term : group) sum.add(term.value);
  acc.take_sum(sum.value(), how.format, how.rounding, draw);
}

void add_aligned(Register& acc, Terms group, const AlignedGroup& how, const Format& format) {
  if (all_zero(group)) return;
  const Rounding rounding = how.nearest ? Rounding::rne() : Rounding::rtz();
  const Exact value = decode(acc.code, format);
  const Exact special = special_of(value, group, acc.flags);
  if (!special.is_zero()) return acc.round_to(special, format, rounding, 0);
  int largest = formats::fp32.min_quantum();
  if (!value.is_zero()) largest = std::max(largest, operand_exponent(acc.code, format));
  for (const DotTerm& term : group) {
    if (!term.value.is_zero()) largest = std::max(largest, term.exponent);
  }
  // Everything is a multiple of FP32's smallest number: truncating below it would do nothing.
  const int quantum = std::max(largest - how.bits, formats::fp32.min_quantum());
  WideSum sum;
  const auto add_truncated = [&](const Exact& term) {
    if (term.is_zero()) return;
    // 2^63 quanta and more: every bit of the significand is a whole quantum, nothing to truncate.
    if (term.exponent - quantum >= 63) return sum.add(term);
    const Multiple whole = round_to_multiple(term, quantum, Rounding::rtz(), 0);
    acc.flags.inexact |= whole.inexact;
    sum.add(Exact::integer(term.negative, whole.count, quantum));
  };
  add_truncated(value);
  for (const DotTerm& term : group) add_truncated(term.value);
  acc.take_sum(sum.value(), format, rounding, 0);
}

// add_group(group) for each group of `size` terms.
template <class AddGroup>
void for_groups(Terms terms, std::int64_t size, const AddGroup& add_group) {
  const auto step = static_cast<std::size_t>(size);
  for (std::size_t first = 0; first < terms.size(); first += step)
    add_group(terms.subspan(first, std::min(step, terms.size() - first)));
}

// A chunk's terms as its inner accumulator takes them.
std::vector<DotTerm> in_order(Terms chunk, Accumulator::Order order) {
  std::vector<std::size_t> numbers;
  append_chunk(order, 0, chunk.size(), numbers);
  std::vector<DotTerm> terms;
  terms.reserve(numbers.size());
  for (const std::size_t number : numbers) terms.push_back(chunk[number]);
  return terms;
}

void add_chunk(Register& acc, Terms group, const Accumulator& how, DotDraws& draws) {
  Register inner{.flags = acc.flags};
  if (how.inner) {
    for_groups(in_order(group, how.order), how.inner->group,
               [&](Terms some) { add_aligned(inner, some, *how.inner, how.inner_format); });
  } else {
    accumulate_plain(inner, group, how.inner_format, how.inner_rounding, draws.inner);
  }
  acc.flags = inner.flags;
  const std::uint32_t draw = how.rounding.stochastic() ? draws.outer.draw() : 0;
  if (all_zero(group)) return;
  const Exact sum = add(decode(acc.code, how.format), decode(inner.code, how.inner_format), acc.flags);
  acc.take_sum(sum, how.format, how.rounding, draw);
}

}  // namespace

DotTerm dot_term(std::uint32_t a, const Format& a_format, std::uint32_t b, const Format& b_format,
                 Flags& flags) {
  const Exact x = decode(a, a_format, flags);
  const Exact y = decode(b, b_format, flags);
  return {multiply(x, y, flags), operand_exponent(a, a_format) + operand_exponent(b, b_format)};
}

Rounded dot(std::span<const DotTerm> terms, const Accumulator& how, DotDraws& draws, std::uint32_t start) {
  Register acc{.code = start};
  const std::int64_t group = how.group_of(static_cast<std::int64_t>(terms.size()));
  switch (how.kind) {
    case Accumulator::Kind::plain:
      accumulate_plain(acc, terms, how.format, how.rounding, draws.outer);
      return {acc.code, acc.flags};
    case Accumulator::Kind::chunk:
      for_groups(terms, group, [&](Terms some) { add_chunk(acc, some, how, draws); });
      return {acc.code, acc.flags};
    case Accumulator::Kind::fused:
    case Accumulator::Kind::kulisch:
      for_groups(terms, group, [&](Terms some) { add_fused(acc, some, how, draws); });
      return {acc.code, acc.flags};
    case Accumulator::Kind::aligned:
      for_groups(terms, group, [&](Terms some) { add_aligned(acc, some, how.aligned, how.format); });
      return {acc.code, acc.flags};
  }
  throw std::logic_error("an accumulator of a kind that check() refuses");
}

}  // namespace mantissa
