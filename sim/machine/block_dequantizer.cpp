#include "sim/machine/block_dequantizer.hpp"

#include <algorithm>

#include "models/mac/arithmetic.hpp"

namespace mantissa {

BlockDequantizer::BlockDequantizer(const BlockArrayJob& job, const BlockPlan& plan)
    : job_(job),
      plan_(plan),
      a_(job.first.as<EncodedTensor::Integers>().matrix()),
      b_(job.second.as<EncodedTensor::Integers>().matrix()),
      zero_(job.first.as<EncodedTensor::Integers>().zero()) {
  const PassSides sides = sides_of(job.shape, job.pass);
  rows_.resize(sides.m * plan.groups());
  columns_.resize(sides.n * plan.groups(), {.phases = std::vector<std::uint64_t>(plan.phases().size())});
  if (job.pass != Pass::weight_gradient) sum_weights();
}

// Element by element of w[o, c, kr, kc]. Columns are output channels in the forward pass, input channels in
// the input gradient.
void BlockDequantizer::sum_weights() {
  const ConvShape& g = job_.shape;
  const auto meets = [](const PassPhase& phase, int side, std::int64_t tap) {
    return std::binary_search(phase.taps[side].begin(), phase.taps[side].end(), tap);
  };
  for (std::int64_t i = 0; i < g.weights(); ++i) {
    const std::int64_t kc = i % g.kernel[1];
    const std::int64_t kr = i / g.kernel[1] % g.kernel[0];
    const std::int64_t channel = i / (g.kernel[0] * g.kernel[1]);
    const std::int64_t o = channel / g.in_group();
    const bool forward = job_.pass == Pass::forward;
    ColumnSums& column = columns_[forward ? o : o / g.out_group() * g.in_group() + channel % g.in_group()];
    const std::uint32_t q = job_.second.element(i);
    column.all += q;
    for (std::size_t phase = 0; phase < plan_.phases().size(); ++phase) {
      const PassPhase& geometry = plan_.phases()[phase].geometry;
      if (meets(geometry, 0, kr) && meets(geometry, 1, kc)) column.phases[phase] += q;
    }
  }
}

bool BlockDequantizer::wants_a(std::int64_t first_col) const {
  return first_col == job_.outputs.col0 || first_col % plan_.columns_per_group() == 0;
}

bool BlockDequantizer::wants_b(std::int64_t first_row) const {
  return job_.pass == Pass::weight_gradient && first_row == job_.outputs.row0;
}

std::size_t BlockDequantizer::phase_of(std::int64_t row) const {
  for (std::size_t phase = 0; phase < plan_.phases().size(); ++phase) {
    const PassPhase& geometry = plan_.phases()[phase].geometry;
    if (geometry.rows_before(row + 1) > geometry.rows_before(row)) return phase;
  }
  throw std::logic_error("a row of no phase");
}

float BlockDequantizer::output(std::uint64_t sum, std::int64_t row, std::int64_t col) const {
  const PassSides sides = sides_of(job_.shape, job_.pass);
  const ColumnSums& column = columns_[col];
  std::uint64_t row_sum = rows_[row * plan_.groups() + col / sides.n];
  if (plan_.phases().size() > 1) {
    const std::size_t phase = phase_of(row);
    const std::int64_t met = plan_.phases()[phase].k_per_unit * plan_.k_units();
    sum += zero_ * (column.all - column.phases[phase]);
    row_sum += zero_ * static_cast<std::uint64_t>(sides.k - met);
  }
  const float value = int_gemm_output(sum, row_sum, column.all, static_cast<std::uint64_t>(sides.k), a_, b_);
  return job_.bias.empty() ? value : f32::add(value, job_.bias[col]);
}

}  // namespace mantissa
