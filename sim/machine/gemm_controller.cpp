#include "sim/machine/gemm_controller.hpp"

#include <stdexcept>

namespace mantissa {
namespace {

GemmPlan checked_plan(const MachineParts& parts, const ArrayJob& job) {
  GemmPlan plan(parts.arch, shape_of(job, parts.formats));
  check_job(job, parts.formats);
  return plan;
}

std::optional<Dequantizer> dequantizer_of(const MachineParts& parts, const ArrayJob& job) {
  if (!parts.formats.integers()) return std::nullopt;
  return Dequantizer(job);
}

}  // namespace

GemmController::GemmController(const MachineParts& parts, const ArrayJob& job)
    : parts_(parts),
      plan_(checked_plan(parts, job)),
      dequantizer_(dequantizer_of(parts, job)),
      memory_(parts, job, plan_),
      feed_(parts, job, plan_, memory_, dequantizer_ ? &*dequantizer_ : nullptr),
      drain_(parts, plan_, memory_, dequantizer_ ? &*dequantizer_ : nullptr),
      counter_(parts.arch.pipe_latency) {
  if (parts.array.systemc() != nullptr) elements_before_ = parts.array.systemc()->elements_taken();
}

void GemmController::drive() {
  offering_ = feed_.offer();
  taking_ = drain_.may_take(cycle_);
  parts_.array.offer(offering_);
  parts_.array.take(taking_);
}

void GemmController::cycle() {
  const bool beat_fired = offering_ && parts_.array.ready();
  const bool row_shown = parts_.array.valid();
  if (beat_fired) seen_ = seen_after(feed_.taken());
  classify(beat_fired, row_shown);
  memory_.clock(cycle_, feed_.begun(), drain_.tiles());
  if (row_shown && taking_) drain_.take_row();
  quiet_ = array_busy() ? 0 : quiet_ + 1;
  ++cycle_;
}

// ------------------------------------------------------------------------------------- the names of cycles

GemmController::Seen GemmController::seen_after(GemmFeed::Ends ends) {
  switch (ends) {
    case GemmFeed::Ends::nothing:
      return Seen::feeding;
    case GemmFeed::Ends::step:
      return Seen::finishing_step;
    case GemmFeed::Ends::tile:
      return Seen::finishing_tile;
  }
  throw std::logic_error("a beat that ends what there is not");
}

bool GemmController::array_busy() const {
  if (offering_ || drain_.tiles() < feed_.tiles()) return true;
  return parts_.arch.acc_double_buffer ? parts_.array.systemc()->step_active() : seen_ != Seen::idle;
}

CycleCounter::Kind GemmController::idle_kind() const {
  const bool more = feed_.begun() < plan_.steps();
  const std::int64_t sets = parts_.arch.acc_double_buffer ? 2 : 1;
  const std::int64_t drains_needed =
      more ? (plan_.opens_tile(feed_.begun()) ? plan_.tile_of(feed_.begun()) - sets + 1 : 0) : plan_.tiles();
  // The oldest drain that is not done is that of tile drain_.tiles(); its half of C was that of two tiles
  // before.
  if (drain_.tiles() < drains_needed)
    return memory_.half_free(drain_.tiles()) ? CycleCounter::Kind::drain : CycleCounter::Kind::write_back;
  return memory_.writes_back() ? CycleCounter::Kind::write_back : CycleCounter::Kind::load;
}

void GemmController::classify(bool beat_fired, bool row_shown) {
  using Kind = CycleCounter::Kind;
  const ArrayUnit* array = parts_.array.systemc();
  if (array != nullptr && parts_.arch.acc_double_buffer) {
    // Tiles overlap here, and the ports do not tell when one ends.
    counter_.count(beat_fired || array->step_active() ? Kind::compute : idle_kind());
    return;
  }
  // A step has ended when the array takes beats again, a tile PipeLatency cycles before its first row shows.
  if (!beat_fired && seen_ == Seen::finishing_step && parts_.array.ready()) seen_ = Seen::idle;
  if (!beat_fired && seen_ == Seen::finishing_tile) {
    if (!row_shown) {
      counter_.count_undecided(idle_kind());
      return;
    }
    counter_.first_row_shows();
    seen_ = Seen::idle;
  }
  counter_.count(seen_ == Seen::idle ? idle_kind() : Kind::compute);
}

// ---------------------------------------------------------------------------------------------- the result

ArrayRun GemmController::result() const {
  const GemmShape& shape = plan_.shape();
  ArrayRun run{.codes = memory_.results(),
               .flags = drain_.flags(),
               .suppressed_tiles = drain_.suppressed_tiles(),
               .cycles = feed_.counts()};
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  const auto bytes = [](std::uint64_t elements, int bits) { return (elements * bits + 7) / 8; };
  cycles.drained = drain_.elements();
  cycles.dram_bytes = memory_.bytes_moved();
  cycles.dram_bytes_unique = static_cast<std::uint64_t>(packed_bytes(shape.m * shape.k, shape.a_bits) +
                                                        packed_bytes(shape.k * shape.n, shape.b_bits) +
                                                        packed_bytes(shape.m * shape.n, shape.c_bits));
  cycles.sram_bytes = cycles.dram_bytes + bytes(cycles.a_taken, shape.a_bits) +
                      bytes(cycles.b_staged, shape.b_bits) + bytes(cycles.drained, shape.c_bits);
  cycles.skipped = static_cast<std::uint64_t>(shape.m * shape.n * shape.k) - cycles.macs;
  cycles.tiles = static_cast<std::uint64_t>(drain_.tiles());
  cycles.steps = static_cast<std::uint64_t>(feed_.begun());
  if (cycles.cycles() != static_cast<std::uint64_t>(cycle_))
    throw std::logic_error("cycles that are neither compute nor a stall");
  const ArrayUnit* array = parts_.array.systemc();
  if (array != nullptr && array->elements_taken() - elements_before_ != cycles.a_taken)
    throw std::logic_error("the array has not taken what it was given");
  return run;
}

}  // namespace mantissa
