#include "sim/machine/norm_controller.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/quantize/quantizer.hpp"
#include "sim/machine/lockstep.hpp"
#include "sim/machine/rtl_norm.hpp"
#include "sim/units/range_bn_codes.hpp"

namespace mantissa {
namespace {

using Forward = NormForwardPorts;
using Backward = NormBackwardPorts;

// Longer than anything stays in a unit that is given nothing.
constexpr int quiet_cycles = 16;
// Far more than a step takes beyond its elements: a unit that needs longer is broken.
constexpr std::int64_t patience_cycles = 1000;

// Throws std::invalid_argument for a job that does not fit; before anything of it is looked at.
const Architecture& checked(const Architecture& arch, const NormUnits& units, const NormJob& job) {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("batch norm: " + what); };
  const bool backward = job.direction == NormDirection::backward;
  const std::int64_t channels = job.shape.channels;
  const std::int64_t elements = channels * job.elements();
  const auto one_each = [&](const char* what, std::size_t size) {
    if (static_cast<std::int64_t>(size) != channels)
      refuse(std::to_string(size) + " " + what + " for " + std::to_string(channels) + " channels");
  };
  if (job.first_channel < 0 || job.channels < 1 || job.channels > channels - job.first_channel) {
    refuse("channels " + std::to_string(job.first_channel) + " and up, " + std::to_string(job.channels) +
           " of them, of a tensor with " + std::to_string(channels));
  }
  if (static_cast<std::int64_t>(job.x.size()) != elements ||
      (backward && static_cast<std::int64_t>(job.g.size()) != elements))
    refuse("a tensor of " + std::to_string(elements) + " elements is not what is in memory");
  one_each("gammas", job.gamma.size());
  if (backward) {
    one_each("saved statistics", job.saved.size());
  } else {
    one_each("betas", job.beta.size());
    if (job.precision == NormPrecision::int8 && !job.inv_range && job.channels != channels)
      refuse("a part of the channels needs the range of inv over all of them");
  }
  if (std::min<std::int64_t>(job.channels, arch.norm_lanes) > units.lanes() ||
      job.elements() >> units.index_bits() != 0) {
    refuse("the units were not built for " + std::to_string(job.channels) + " channels of " +
           std::to_string(job.elements()) + " elements");
  }
  if (job.drain) {
    check_quantizer(*job.drain, 32, 0, 0);
    if (job.drain->rounding.stochastic()) job.draws.check();
  }
  return arch;
}

}  // namespace

NormController::NormController(NormUnits& units, const NormMemoryParts& parts, const NormJob& job)
    : arch_(checked(parts.arch, units, job)),
      units_(units),
      job_(job),
      x_value_(job.x),
      g_value_(job.g),
      streams_(streams_of(job)),
      plan_(parts.arch, streams_, job.direction),
      registers_(job.elements(), job.config),
      memory_(parts, job, plan_),
      step_(plan_.step(0)) {
  if (job.drain && job.drain->rounding.stochastic()) {
    ElementDraws draws(job.draws);
    draws_.resize(job.x.size());
    for (std::uint32_t& draw : draws_) draw = draws.next();
  }
  if (backward()) {
    run_.gradients.resize(job.channels);
  } else {
    run_.saved.resize(job.channels);
  }
  units_.select(job.direction, step_.lanes);
  lanes_.resize(step_.lanes);
}

NormRun NormController::result() const {
  NormRun run = run_;
  run.codes = memory_.results();
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  const auto bytes = [](std::uint64_t elements, int bits) { return (elements * bits + 7) / 8; };
  const auto tensor = static_cast<std::uint64_t>(job_.channels * job_.elements());
  cycles.dram_bytes = memory_.bytes_moved();
  cycles.dram_bytes_unique = bytes(tensor, streams_.x_bits) + bytes(tensor, streams_.result_bits) +
                             (backward() ? bytes(tensor, streams_.gradient_bits) : 0);
  cycles.sram_bytes = cycles.dram_bytes + bytes(cycles.a_taken, streams_.x_bits) +
                      bytes(cycles.b_staged, streams_.gradient_bits) +
                      bytes(cycles.drained, streams_.result_bits);
  cycles.tiles = static_cast<std::uint64_t>(plan_.groups());
  cycles.steps = static_cast<std::uint64_t>(index_);
  if (cycles.cycles() != static_cast<std::uint64_t>(cycle_))
    throw std::logic_error("cycles that are neither compute nor a stall");
  return run;
}

// ------------------------------------------------------------------------------------------------- feeding

void NormController::write(std::int64_t lane, int port, std::uint64_t value) {
  UnitSlot& unit = units_.lane(lane);
  unit.write(port, Bits(unit.width(port), value));
}

void NormController::write(std::int64_t lane, int port, float value) {
  write(lane, port, std::uint64_t{fp32_bits(value)});
}

void NormController::begin_step() {
  computing_ = true;
  step_began_ = cycle_;
  quiet_ = 0;
  std::fill(lanes_.begin(), lanes_.end(), Lane{});
  if (!step_.opens) return;
  if (!backward() && step_.second && step_.group == 0) quantize_inv();
  for (std::int64_t lane = 0; lane < step_.lanes; ++lane) write_registers(lane);
}

// Between the sweeps, over the channels.
void NormController::quantize_inv() {
  if (job_.precision == NormPrecision::fp32) return;
  std::vector<float> inv;
  for (const RangeBnSaved& saved : run_.saved) inv.push_back(saved.inv);
  const GemmlowpRange range = job_.inv_range.value_or(GemmlowpRange::of(inv, 8));
  for (RangeBnSaved& saved : run_.saved)
    saved.inv = gemmlowp_dequantize(gemmlowp_quantize(saved.inv, range, Rounding::rne()).q, range);
}

// What stays the same for all elements of a channel.
void NormController::write_registers(std::int64_t lane) {
  const std::int64_t tensor_channel = job_.first_channel + channel(lane);
  const auto count = static_cast<std::uint64_t>(job_.elements());
  if (backward()) {
    const RangeBnSaved& saved = job_.saved[tensor_channel];
    write(lane, Backward::count, count);
    write(lane, Backward::reciprocal_count, registers_.reciprocal_n);
    write(lane, Backward::reciprocal_chunks, registers_.reciprocal_chunks);
    write(lane, Backward::constant, registers_.constant);
    write(lane, Backward::gamma, job_.gamma[tensor_channel]);
    write(lane, Backward::mean, saved.mean);
    write(lane, Backward::inv, saved.inv);
    return;
  }
  const RangeBnSaved& saved = run_.saved[channel(lane)];
  write(lane, Forward::mode,
        static_cast<std::uint64_t>(step_.second ? BnMode::normalise : BnMode::statistics));
  write(lane, Forward::count, count);
  write(lane, Forward::chunk_length, static_cast<std::uint64_t>(registers_.chunk_length));
  write(lane, Forward::reciprocal_count, registers_.reciprocal_n);
  write(lane, Forward::reciprocal_chunks, registers_.reciprocal_chunks);
  write(lane, Forward::constant, registers_.constant);
  write(lane, Forward::gamma, job_.gamma[tensor_channel]);
  write(lane, Forward::beta, job_.beta[tensor_channel]);
  write(lane, Forward::mean, saved.mean);
  write(lane, Forward::inv, saved.inv);
}

// The lane's next element, from the buffers through the decoder to the unit.
void NormController::feed(std::int64_t lane) {
  const std::int64_t fed = lanes_[lane].fed;
  const std::int64_t at = fed * step_.lanes + lane;
  const float x = x_value_(memory_.x(index_, at));
  if (!backward()) {
    write(lane, Forward::x, x);
    return;
  }
  const RangeBnSaved& saved = job_.saved[job_.first_channel + channel(lane)];
  const std::int64_t chunk = (step_.first + fed) / registers_.chunk_length;
  write(lane, Backward::x, x);
  write(lane, Backward::g, g_value_(memory_.g(index_, at)));
  write(lane, Backward::argmax, static_cast<std::uint64_t>(saved.argmax[chunk]));
  write(lane, Backward::argmin, static_cast<std::uint64_t>(saved.argmin[chunk]));
}

void NormController::drive() {
  if (!computing_ && index_ < plan_.steps() && memory_.loaded(index_) && memory_.half_free(step_))
    begin_step();
  for (std::int64_t lane = 0; lane < std::ssize(lanes_); ++lane) {
    Lane& state = lanes_[lane];
    const bool more = computing_ && lane < step_.lanes && state.fed < step_.length;
    if (more && !state.offering) feed(lane);
    state.offering = more;
    units_.lane(lane).offer(more);
    units_.lane(lane).take(true);
  }
}

// ---------------------------------------------------------------------------------------------- the cycles

void NormController::element_taken(std::int64_t lane) {
  Lane& state = lanes_[lane];
  ++state.fed;
  state.offering = false;
  ++run_.cycles.a_taken;
  if (backward()) ++run_.cycles.b_staged;
}

void NormController::unexpected(std::int64_t lane, const char* what) const {
  throw UnitFailure(norm_unit_name(job_.direction) + ", lane " + std::to_string(lane) + ", cycle " +
                    std::to_string(cycle_) + ": " + what);
}

void NormController::take_element(std::int64_t lane, std::uint32_t bits) {
  Lane& state = lanes_[lane];
  if (!computing_ || !step_.second || lane >= step_.lanes || state.results >= state.fed)
    unexpected(lane, "a result that nobody waits for");
  std::uint32_t code = bits;
  if (job_.drain) {
    const std::int64_t place = job_.place(job_.first_channel + channel(lane), step_.first + state.results);
    code = convert(bits, *job_.drain, draws_.empty() ? 0 : draws_[place]).code;
  }
  memory_.put_result(step_.block, state.results * step_.lanes + lane, code);
  ++state.results;
  ++run_.cycles.drained;
}

void NormController::take_forward(std::int64_t lane) {
  const UnitSlot& unit = units_.lane(lane);
  const auto first = static_cast<std::uint32_t>(unit.output(Forward::first).value());
  const auto second = static_cast<std::uint32_t>(unit.output(Forward::second).value());
  const auto kind = static_cast<BnKind>(unit.output(Forward::kind).value());
  if (kind == BnKind::element) {
    take_element(lane, first);
    return;
  }
  if (step_.second || lane >= step_.lanes) unexpected(lane, "statistics that nobody waits for");
  RangeBnSaved& saved = run_.saved[channel(lane)];
  if (kind == BnKind::indices) {
    if (std::ssize(saved.argmax) == job_.config.chunks) unexpected(lane, "indices of a chunk too many");
    saved.argmax.push_back(first);
    saved.argmin.push_back(second);
  } else {
    saved.mean = fp32_value(first);
    saved.inv = fp32_value(second);
    lanes_[lane].saved = true;
  }
}

void NormController::take_backward(std::int64_t lane) {
  const UnitSlot& unit = units_.lane(lane);
  const auto first = static_cast<std::uint32_t>(unit.output(Backward::first).value());
  const auto second = static_cast<std::uint32_t>(unit.output(Backward::second).value());
  if (unit.output(Backward::gradients).value() == 0) {
    take_element(lane, first);
  } else if (lane >= step_.lanes) {
    unexpected(lane, "gradients that nobody waits for");
  } else {
    run_.gradients[channel(lane)] = {fp32_value(first), fp32_value(second)};
  }
}

void NormController::take_result(std::int64_t lane) {
  if (backward()) {
    take_backward(lane);
  } else {
    take_forward(lane);
  }
}

bool NormController::step_done() const {
  return std::all_of(lanes_.begin(), lanes_.begin() + step_.lanes, [this](const Lane& lane) {
    if (lane.fed < step_.length) return false;
    if (step_.second) return lane.results == step_.length;
    return backward() || !step_.closes || lane.saved;
  });
}

void NormController::end_step() {
  computing_ = false;
  ++index_;
  if (index_ < plan_.steps()) step_ = plan_.step(index_);
}

bool NormController::units_rest() const { return quiet_ > quiet_cycles; }

void NormController::cycle() {
  using Kind = CycleCounter::Kind;
  const Kind stall = memory_.writes_back() ? Kind::write_back : Kind::load;
  counter_.count(computing_ ? Kind::compute : stall);
  bool shown = false;
  if (!units_rest()) {
    for (std::int64_t lane = 0; lane < std::ssize(lanes_); ++lane) {
      const UnitSlot& unit = units_.lane(lane);
      if (lanes_[lane].offering && unit.ready()) element_taken(lane);
      if (!unit.valid()) continue;
      take_result(lane);
      shown = true;
    }
  }
  // What a step leaves behind counts from the next cycle on.
  memory_.clock(index_ + (computing_ ? 1 : 0), index_);
  if (computing_ && step_done()) end_step();
  if (computing_ && cycle_ - step_began_ > step_.length + patience_cycles)
    unexpected(0, "a step that does not end");
  quiet_ = computing_ || shown ? 0 : quiet_ + 1;
  ++cycle_;
}

}  // namespace mantissa
