#include "sim/silicon/accumulator_match.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "models/format/convert.hpp"
#include "models/mac/accumulator_preset.hpp"
#include "models/mac/dot.hpp"
#include "models/parallel/parallel.hpp"

namespace mantissa::silicon {
namespace {

std::vector<DotTerm> terms_of(const MeasuredDots& dots, std::size_t index) {
  Flags flags;
  std::vector<DotTerm> terms;
  terms.reserve(dots.k);
  for (std::size_t i = index * dots.k; i < (index + 1) * dots.k; ++i)
    terms.push_back(dot_term(dots.a[i], dots.a_format, dots.b[i], dots.b_format, flags));
  return terms;
}

std::uint32_t run(const MeasuredDots& dots, std::size_t index, const Candidate& candidate,
                  std::span<const DotTerm> terms) {
  const Format& format = candidate.accumulator.format;
  const Accumulator& how = candidate.accumulator;
  // Sums that are truncated truncate the start value, too; that it is brought to the format before changes
  // nothing.
  const bool truncates = how.kind == Accumulator::Kind::aligned && !how.aligned.nearest;
  const Conversion enter{
      .from = formats::fp32, .to = format, .rounding = truncates ? Rounding::rtz() : Rounding::rne()};
  const std::uint32_t start = candidate.start == Start::given ? convert(dots.start[index], enter).code : 0;
  DotDraws draws{Lfsr(1), Lfsr(1)};
  const std::uint32_t code = dot(terms, how, draws, start).code;
  return convert(code, {.from = format, .to = formats::fp32}).code;
}

bool same(std::uint32_t a, std::uint32_t b) {
  return a == b || (formats::fp32.is_nan(a) && formats::fp32.is_nan(b));
}

// The part of an accumulator that is aligned; null: none is.
AlignedGroup* aligned_part(Accumulator& how) {
  if (how.kind == Accumulator::Kind::aligned) return &how.aligned;
  return how.inner ? &*how.inner : nullptr;
}

}  // namespace

std::uint32_t computed(const MeasuredDots& dots, std::size_t index, const Candidate& candidate) {
  return run(dots, index, candidate, terms_of(dots, index));
}

std::vector<std::uint32_t> computed_steps(const MeasuredDots& dots, std::size_t index,
                                          const Candidate& candidate) {
  const std::vector<DotTerm> terms = terms_of(dots, index);
  const auto group = static_cast<std::size_t>(
      std::max<std::int64_t>(candidate.accumulator.group_of(static_cast<std::int64_t>(dots.k)), 1));
  std::vector<std::uint32_t> steps;
  for (std::size_t end = group; end < dots.k + group; end += group)
    steps.push_back(run(dots, index, candidate, std::span(terms).first(std::min(end, dots.k))));
  return steps;
}

Match match(const MeasuredDots& dots, const Candidate& candidate, int threads) {
  std::vector<std::uint8_t> differs(dots.size());
  parallel_ranges(static_cast<std::int64_t>(dots.size()), 64, threads,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i)
                      differs[i] = !same(computed(dots, i, candidate), dots.result[i]);
                  });
  Match found{.candidate = candidate, .equal = 0, .different = {}};
  for (std::size_t i = 0; i < dots.size(); ++i) {
    if (differs[i] != 0) found.different.push_back(i);
  }
  found.equal = dots.size() - found.different.size();
  return found;
}

std::vector<Candidate> candidates(const MeasuredDots& dots, const std::string& preset) {
  const bool has_start =
      std::any_of(dots.start.begin(), dots.start.end(), [](std::uint32_t bits) { return bits << 1 != 0; });
  std::vector<Candidate> all;
  for (const AccumulatorPreset& each : accumulator_presets()) {
    if (!preset.empty() && each.name != preset) continue;
    all.push_back({std::string(each.name), each.accumulator, Start::given});
    if (has_start) all.push_back({std::string(each.name), each.accumulator, Start::zero});
  }
  return all;
}

std::vector<Candidate> variations(const Candidate& candidate) {
  std::vector<Candidate> all;
  const auto add = [&](const std::string& name, const auto& change) {
    Candidate other = candidate;
    change(other.accumulator);
    try {
      other.accumulator.check();
    } catch (const std::invalid_argument&) {
      return;  // there is no such accumulator
    }
    other.name = name;
    all.push_back(std::move(other));
  };
  Accumulator how = candidate.accumulator;
  if (const AlignedGroup* aligned = aligned_part(how)) {
    for (const int bits : {aligned->bits - 1, aligned->bits + 1})
      add(fmt::format("{} aligned bits", bits), [=](Accumulator& it) { aligned_part(it)->bits = bits; });
    for (const int group : {aligned->group / 2, aligned->group * 2}) {
      add(fmt::format("groups of {}", group), [=](Accumulator& it) { aligned_part(it)->group = group; });
    }
    const bool nearest = !aligned->nearest;
    add(nearest ? "aligned sums rounded to nearest" : "aligned sums truncated",
        [=](Accumulator& it) { aligned_part(it)->nearest = nearest; });
  }
  for (const int mantissa : {how.format.mantissa_bits - 1, how.format.mantissa_bits + 1}) {
    Format format = how.format;
    format.mantissa_bits = mantissa;
    if (mantissa < 0 || mantissa > formats::fp32.mantissa_bits) continue;
    add("format " + format.name(), [=](Accumulator& it) { it.format = format; });
  }
  if (how.inner) {
    using Order = Accumulator::Order;
    const Order order = how.order == Order::pairs ? Order::ascending : Order::pairs;
    add("order " + std::string(name_of(order)), [=](Accumulator& it) { it.order = order; });
    add("no chunks", [](Accumulator& it) {
      it = {.kind = Accumulator::Kind::aligned, .format = it.inner_format, .aligned = *it.inner};
    });
  }
  return all;
}

}  // namespace mantissa::silicon
