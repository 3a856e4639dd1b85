#include "sim/machine/block_lowering.hpp"

#include <stdexcept>
#include <string>

#include "sim/machine/lockstep.hpp"

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

BlockLowering::BlockLowering(const BlockParts& parts, const BlockPlan& plan, const BlockMemory& memory,
                             const EncodedTensor& first, const EncodedTensor& second)
    : parts_(parts),
      plan_(plan),
      a_{.memory = memory.a(), .zero = padding_of(first)},
      b_{.memory = memory.b(), .zero = padding_of(second)},
      next_(parts.arch, plan) {}

LoweredRun BlockLowering::lowered(const BlockTile& tile, const TileRun& run) const {
  const BlockStep& step = plan_.steps()[tile.step];
  const Rectangle block = plan_.outputs(tile.block);
  const std::int64_t columns_before = run.group * plan_.columns_per_group();
  return {.first_unit = step.segment * plan_.mapping().k_block,
          .units = step.k_units,
          .row0 = tile.row0,
          .rows = tile.rows,
          .col0 = run.col0 - columns_before,
          .cols = run.col1 - run.col0,
          .line_row = block.row0,
          .line_column = block.col0 - columns_before,
          .line_channel = BlockLines::first_channel(plan_, block, run.group)};
}

void BlockLowering::offer_next() {
  const ConvShape& shape = plan_.job().shape;
  const Pass pass = plan_.job().pass;
  const BlockTile& tile = next_.tile();
  const PassPhase& phase = plan_.phases()[tile.phase].geometry;
  const LoweredRun run = lowered(tile, next_.run());
  parts_.lowering.a().set_up(lowering_setup_a(shape, pass, phase, run, parts_.arch.rows));
  parts_.lowering.b().set_up(lowering_setup_b(shape, pass, phase, run, parts_.arch.cols,
                                              static_cast<int>(next_.run().col0 - tile.col0)));
  offered_ = true;
}

void BlockLowering::drive(bool takes) {
  if (!offered_ && !next_.done()) offer_next();
  takes_ = takes;
  parts_.lowering.offer(offered_);
  parts_.lowering.take(takes);
}

void BlockLowering::cycle(bool taken) {
  if (taken != takes_) throw UnitFailure("the array takes a beat for which it was not ready, or none");
  if (!offered_ || !parts_.lowering.ready()) return;
  offered_ = false;
  next_.next();
}

void BlockLowering::find_lines(Operand& operand, std::int64_t step, std::int64_t group) {
  operand.first = operand.memory.lines().name(step, group, 0);
  operand.elements = operand.memory.lines().elements(operand.first);
}

void BlockLowering::begin(const BlockTile& tile, const TileRun& run) {
  rows_ = static_cast<int>(tile.rows);
  columns_ = static_cast<int>(run.col1 - run.col0);
  first_lane_ = static_cast<int>(run.col0 - tile.col0);
  find_lines(a_, tile.step, run.group);
  // Weights have no groups.
  find_lines(b_, tile.step, plan_.job().pass == Pass::weight_gradient ? run.group : 0);
}

LoweredBeat BlockLowering::beat() const {
  const LoweringSlots& units = parts_.lowering;
  if (!units.valid()) throw UnitFailure("lowering_unit gives no beat where one is due");
  const LoweredBeat beat{.count = units.a().count(), .last = units.a().last()};
  if (units.b().count() != beat.count || units.b().last() != beat.last)
    throw UnitFailure("the address generators of A and B are not together");
  return beat;
}

void BlockLowering::refuse(const LoweringUnit::Address& address) {
  throw UnitFailure("lowering_unit asks for element " + std::to_string(address.element) + " of line " +
                    std::to_string(address.line) + ", which is none of the run's");
}

}  // namespace mantissa
