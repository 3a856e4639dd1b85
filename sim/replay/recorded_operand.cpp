#include "sim/replay/recorded_operand.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/replay/accuracy.hpp"

namespace mantissa::replay {
namespace {

double zero_share(std::span<const float> values) {
  if (values.empty()) return 0;
  const auto zeros = std::count(values.begin(), values.end(), 0.0F);
  return static_cast<double>(zeros) / static_cast<double>(values.size());
}

// What the quantizer of codes counted; the one of integers counts nothing, so its zeros are found here.
std::uint64_t made_zeros(std::span<const float> from, std::span<const float> to) {
  std::uint64_t zeros = 0;
  for (std::size_t i = 0; i < from.size(); ++i) zeros += from[i] != 0 && to[i] == 0 ? 1 : 0;
  return zeros;
}

}  // namespace

RecordedOperand::RecordedOperand(std::vector<float> recorded, const OperandSite& site, const Step& step,
                                 LayerPlan& plan)
    : values(std::move(recorded)) {
  std::span<const float> source = values;
  if (site.role == Role::grad_output && plan.prune(step, values, survivors)) {
    source = survivors;
    pruned = source.size();
    draws += source.size();
  }
  if (site.format.stochastic()) draws += source.size();
  ConversionCounts counts;
  plan.encode(step, site, source, encoded, {.counts = &counts});

  std::vector<float> storage;
  const std::span<const float> held = encoded.numbers(storage, step.threads);
  const ElementType type = encoded.type();
  report.format = type.short_name();
  report.scale = encoded.scale();
  report.zero_share_in = zero_share(values);
  report.zero_share = zero_share(held);
  report.accuracy = measure_accuracy<float>(held, values, grid_of(encoded), step.threads);
  add_counts(report.accuracy, counts);
  if (type.is_integer()) report.accuracy.flushed_to_zero = made_zeros(source, held);
}

}  // namespace mantissa::replay
