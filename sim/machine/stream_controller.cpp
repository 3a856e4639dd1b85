#include "sim/machine/stream_controller.hpp"

#include <stdexcept>

#include "sim/arch/sizes.hpp"
#include "sim/machine/lockstep.hpp"

namespace mantissa {
namespace {

// Far more than an element takes in any lane: one that needs longer is broken.
constexpr std::uint64_t patience_cycles = 1000;

}  // namespace

StreamController::StreamController(StreamLanes& lanes, const StreamParts& parts, const StreamJob& job,
                                   const StreamInputs& inputs)
    : units_(lanes),
      job_(job),
      memory_(parts, job_, inputs),
      lanes_(static_cast<std::size_t>(job.lanes)),
      in_(job.input_bits.size()),
      results_(job.output_bits.size()) {}

bool StreamController::may_start() const {
  return started_ == computed_ && started_ < memory_.segments() && cycle_ >= job_.ready &&
         memory_.loaded(started_) && memory_.half_free(started_);
}

void StreamController::drive() {
  if (may_start()) ++started_;
  const bool computing = started_ > computed_;
  const std::int64_t end = computing ? memory_.first(computed_) + memory_.size(computed_) : 0;
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    const std::int64_t next = element(lane.fed, i);
    const bool more = computing && next < end;
    if (more && !lane.offering) {
      memory_.get(computed_, next, in_);
      units_.feed(static_cast<std::int64_t>(i), next, in_);
    }
    lane.offering = more;
    units_.offer(static_cast<std::int64_t>(i), more);
  }
}

void StreamController::unexpected(std::size_t lane, const std::string& what) const {
  throw UnitFailure(units_.name() + ", lane " + std::to_string(lane) + ", cycle " + std::to_string(cycle_) +
                    ": " + what);
}

void StreamController::take_elements() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (!lane.offering || !units_.ready(static_cast<std::int64_t>(i))) continue;
    lane.offering = false;
    ++lane.fed;
    ++taken_;
    waited_ = 0;
  }
  if (started_ > computed_ && taken_ == memory_.first(computed_) + memory_.size(computed_)) ++computed_;
}

void StreamController::take_results() {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    if (!units_.valid(static_cast<std::int64_t>(i))) continue;
    if (lane.shown == lane.fed) unexpected(i, "a result that nobody waits for");
    const std::int64_t at = element(lane.shown, i);
    units_.result(static_cast<std::int64_t>(i), at, results_);
    memory_.put(at / memory_.size(0), at, results_);
    ++lane.shown;
    ++shown_;
    waited_ = 0;
  }
  if (out_ < memory_.segments() && shown_ >= memory_.first(out_) + memory_.size(out_)) ++out_;
}

CycleCounter::Kind StreamController::kind() const {
  using Kind = CycleCounter::Kind;
  if (started_ > computed_) return Kind::compute;
  if (cycle_ < job_.ready) return Kind::drain;
  if (computed_ == memory_.segments() && out_ < computed_) return Kind::drain;
  return memory_.writes_back() ? Kind::write_back : Kind::load;
}

void StreamController::cycle() {
  counter_.count(kind());
  // What a segment leaves behind counts from the next cycle on.
  memory_.clock({.computed = computed_, .out = out_});
  const bool busy = started_ > computed_ || shown_ < taken_;
  if (busy && ++waited_ > patience_cycles) unexpected(0, "an element that does not come out");
  if (!units_rest() || busy) {
    take_elements();
    take_results();
  }
  quiet_ = busy || shown_ < taken_ ? 0 : quiet_ + 1;
  ++cycle_;
}

StreamRun StreamController::result() const {
  StreamRun run{.outputs = memory_.outputs(), .cycles = {}};
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  if (cycles.cycles() != cycle_) throw std::logic_error("cycles that are neither compute nor a stall");
  std::int64_t buffered = 0;  // bytes of what went into the lanes and came out
  std::int64_t tensors = 0;
  for (const int bits : job_.input_bits) {
    buffered += packed_bytes(taken_, bits);
    tensors += packed_bytes(job_.elements, bits);
  }
  for (const int bits : job_.output_bits) {
    buffered += packed_bytes(shown_, bits);
    tensors += packed_bytes(job_.elements, bits);
  }
  cycles.dram_bytes = memory_.bytes_moved();
  cycles.tensor_bytes = static_cast<std::uint64_t>(tensors);
  cycles.sram_bytes = cycles.dram_bytes + static_cast<std::uint64_t>(buffered);
  cycles.drained = static_cast<std::uint64_t>(shown_);
  cycles.steps = static_cast<std::uint64_t>(started_);
  return run;
}

}  // namespace mantissa
