#include "sim/machine/block_controller.hpp"

#include <stdexcept>

namespace mantissa {
namespace {

// Steps and their lines do not depend on how these lie in memory.
BlockPlan checked_plan(const BlockParts& parts, const BlockArrayJob& job) {
  check_job(job, parts.arch, parts.formats);
  BlockJob shape = shape_of(job, parts.formats);
  shape.packed = false;
  return {parts.arch, shape, job.mapping};
}

std::optional<StatisticsLanes> lanes_of(const BlockParts& parts, const BlockArrayJob& job) {
  if (job.statistics.kind == DrainStatistics::none || parts.statistics.count() == 0) return std::nullopt;
  return std::optional<StatisticsLanes>(std::in_place, parts.statistics, job, parts.formats.result());
}

}  // namespace

BlockController::BlockController(const BlockParts& parts, const BlockArrayJob& job)
    : parts_(parts),
      plan_(checked_plan(parts, job)),
      memory_(parts, job, plan_),
      dequantizer_(parts.formats.integers() ? std::make_unique<BlockDequantizer>(job, plan_) : nullptr),
      feed_(parts, job, plan_, memory_, dequantizer_.get()),
      exchange_(parts, plan_, memory_.c()),
      lanes_(lanes_of(parts, job)),
      drain_(parts, job, plan_, memory_.c(), memory_.x(), {dequantizer_.get(), lanes_ ? &*lanes_ : nullptr}),
      elements_before_(elements_taken()) {}

std::uint64_t BlockController::elements_taken() const {
  const OperandArray* array = parts_.array.systemc();
  return array == nullptr ? 0 : array->elements_taken();
}

void BlockController::drive() {
  memory_.take_unpacked();
  offering_ = feed_.offer();
  exchange_.drive();
  parts_.array.offer(offering_);
  parts_.array.take(true);
  if (lanes_) lanes_->drive();
}

void BlockController::cycle() {
  if (lanes_) lanes_->cycle();
  if (memory_.finished()) return;
  const bool computed_before = !parts_.array.computes();
  if (computed_before) computed_ = feed_.fed();
  const bool beat_fires = offering_ && parts_.array.ready();
  const WatchedBeat beat = feed_.beat();
  parts_.array.watch(beat_fires ? &beat : nullptr);
  feed_.cycle(beat_fires);
  counter_.count(kind(beat_fires || !computed_before));
  const BlockMemory::Progress progress{
      .begun = feed_.begun(), .computed = computed_, .drained = drain_.blocks()};
  drain_.clock();  // of what has arrived before this cycle
  memory_.clock(progress);
  exchange_.cycle();
  const bool busy = offering_ || !computed_before || exchange_.done() < feed_.exchanges();
  quiet_ = busy ? 0 : quiet_ + 1;
  ++cycle_;
}

CycleCounter::Kind BlockController::kind(bool computes) const {
  using Kind = CycleCounter::Kind;
  if (computes) return Kind::compute;
  // The array does not work and takes nothing: its sets have not changed roles yet.
  if (!parts_.array.ready()) return Kind::drain;
  const auto& steps = plan_.steps();
  if (feed_.begun() == static_cast<std::int64_t>(steps.size())) {
    if (drain_.blocks() < plan_.blocks()) return Kind::drain;
  } else {
    const BlockStep& next = steps[feed_.begun()];
    if (next.opens_block && !memory_.c().has_room(next.block))
      return drain_.blocks() <= memory_.c().in_place_of(next.block) ? Kind::drain : Kind::write_back;
  }
  return memory_.writes_back() ? Kind::write_back : Kind::load;
}

ArrayRun BlockController::result() const {
  const BlockJob& job = plan_.job();
  ArrayRun run{.codes = memory_.results(),
               .flags = drain_.flags(),
               .suppressed_tiles = exchange_.suppressed_tiles(),
               .cycles = feed_.counts()};
  if (lanes_) run.statistics = lanes_->channels();
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  const auto bytes = [](std::uint64_t elements, int bits) { return (elements * bits + 7) / 8; };
  cycles.drained = drain_.elements();
  cycles.sums_stored = exchange_.stored();
  cycles.sums_loaded = exchange_.loaded();
  cycles.dram_bytes = memory_.bytes_moved();
  cycles.tensor_bytes = memory_.tensor_bytes();
  const std::uint64_t sums = cycles.sums_stored + cycles.sums_loaded + cycles.drained;
  cycles.sram_bytes = memory_.buffer_bytes() + bytes(cycles.a_taken, job.a_bits) +
                      bytes(cycles.b_staged, job.b_bits) + bytes(sums, job.sum_bits) +
                      bytes(cycles.drained, job.c_bits);
  if (memory_.x().needed()) cycles.sram_bytes += bytes(cycles.drained, job.x_bits);
  cycles.tiles = drain_.tiles();
  cycles.steps = static_cast<std::uint64_t>(feed_.begun());
  if (cycles.cycles() != static_cast<std::uint64_t>(cycle_))
    throw std::logic_error("cycles that are neither compute nor a stall");
  if (parts_.array.systemc() != nullptr && elements_taken() - elements_before_ != cycles.a_taken)
    throw std::logic_error("the array has not taken what it was given");
  return run;
}

}  // namespace mantissa
