#include "sim/machine/block_lowering.hpp"

#include <stdexcept>

namespace mantissa {
namespace {

std::uint16_t padding_of(const EncodedTensor& tensor) {
  return tensor.visit(Overloaded{[](const EncodedTensor::Fp32&) -> std::uint16_t {
                                   throw std::invalid_argument("operands of FP32 go into no array");
                                 },
                                 [](const EncodedTensor::Codes&) { return std::uint16_t{0}; },
                                 [](const EncodedTensor::Integers& integers) { return integers.zero(); }});
}

}  // namespace

BlockLowering::BlockLowering(const BlockPlan& plan, const BlockOperandMemory& a, const BlockOperandMemory& b,
                             const EncodedTensor& first, const EncodedTensor& second)
    : plan_(plan), a_(a), b_(b), a_zero_(padding_of(first)), b_zero_(padding_of(second)) {}

// Row p of a phase is place (i, j) of an image. In the forward pass its windows begin at multiples of the
// stride; in the input gradient the taps of the phase reach every place of g by steps of one.
void BlockLowering::place_rows(const BlockTile& tile) {
  const ConvShape& g = plan_.job().shape;
  const PassPhase& rows = plan_.phases()[tile.phase].geometry;
  const bool forward = plan_.job().pass == Pass::forward;
  places_.clear();
  for (std::int64_t row = tile.row0; row < tile.row0 + tile.rows; ++row) {
    const std::int64_t i = row / rows.places[1] % rows.places[0];
    const std::int64_t j = row % rows.places[1];
    places_.push_back({.first_line = row / rows.rows_per_image() * size_[0],
                       .row = forward ? i * g.stride[0] : i,
                       .col = forward ? j * g.stride[1] : j});
  }
}

// (channel, kernel row, kernel column) of the segment, last one fastest.
void BlockLowering::lay_taps(const BlockTile& tile) {
  const ConvShape& g = plan_.job().shape;
  const PassPhase& phase = plan_.phases()[tile.phase].geometry;
  const std::int64_t units = plan_.steps()[tile.step].k_units;
  const auto reach = [&](int side, std::int64_t tap) {
    if (plan_.job().pass == Pass::forward) return tap * g.dilation[side] - g.padding[side];
    // A whole number, for these taps.
    return (phase.first[side] + g.padding[side] - tap * g.dilation[side]) / g.stride[side];
  };
  taps_.clear();
  for (std::int64_t unit = 0; unit < units; ++unit) {
    for (const std::int64_t row : phase.taps[0]) {
      for (const std::int64_t col : phase.taps[1]) {
        taps_.push_back({.element = unit * size_[1],
                         .weight = (unit * g.kernel[0] + row) * g.kernel[1] + col,
                         .row = reach(0, row),
                         .col = reach(1, col)});
      }
    }
  }
}

// Weight gradient: lines (b, oh) of g, element by element, with the windows of x that they meet.
void BlockLowering::lay_columns(const TileRun& run) {
  const ConvShape& g = plan_.job().shape;
  const BlockStep& step = plan_.steps()[step_];
  places_.clear();
  gradient_.clear();
  const std::int64_t first = step.segment * plan_.mapping().k_block;
  for (std::int64_t line = first; line < first + step.k_units; ++line) {
    for (std::int64_t col = 0; col < g.out[1]; ++col) {
      gradient_.push_back(line);
      gradient_.push_back(col);
      places_.push_back({.first_line = line / g.out[0] * g.in[0],
                         .row = line % g.out[0] * g.stride[0],
                         .col = col * g.stride[1]});
    }
  }
  const Rectangle block = plan_.outputs(step.block);
  const std::int64_t channel0 = BlockLines::first_channel(plan_, block, run.group);
  taps_.clear();
  for (std::int64_t col = run.col0; col < run.col1; ++col) {
    const std::int64_t n = col - run.group * plan_.columns_per_group();
    const std::int64_t channel = n / (g.kernel[0] * g.kernel[1]);
    taps_.push_back({.element = (channel - channel0) * size_[1],
                     .row = n / g.kernel[1] % g.kernel[0] * g.dilation[0] - g.padding[0],
                     .col = n % g.kernel[1] * g.dilation[1] - g.padding[1]});
  }
}

void BlockLowering::begin(const BlockTile& tile, const TileRun& run) {
  const ConvShape& g = plan_.job().shape;
  const Rectangle block = plan_.outputs(tile.block);
  const bool same_taps = tile.step == step_ && tile.phase == phase_ && !weight_gradient();
  step_ = tile.step;
  phase_ = tile.phase;
  size_ = plan_.job().pass == Pass::input_gradient ? g.out : g.in;
  rows_ = tile.rows;
  columns_ = run.col1 - run.col0;
  a_first_ = a_.lines().name(tile.step, run.group, 0);
  if (weight_gradient()) {
    b_first_ = b_.lines().name(tile.step, run.group, 0);
    first_row_ = tile.row0 - block.row0;
    lay_columns(run);
    return;
  }
  b_first_ = b_.lines().name(tile.step, 0, 0);
  first_column_ = run.col0 - block.col0;
  column_pitch_ = plan_.steps()[tile.step].k_units * g.kernel[0] * g.kernel[1];
  if (!same_taps) lay_taps(tile);
  place_rows(tile);
}

}  // namespace mantissa
