#include "sim/arch/machine/norm_controller.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/quantize/quantizer.hpp"
#include "sim/units/range_bn_forward.hpp"

namespace mantissa {
namespace {

using Forward = NormForwardPorts;
using Backward = NormBackwardPorts;

// Longer than anything stays in a unit that is given nothing.
constexpr int quiet_cycles = 16;
// Far more than a step takes beyond its elements: a unit that needs longer is broken.
constexpr std::int64_t patience_cycles = 1000;

}  // namespace

NormController::NormController(const NormMachineParts& parts, const NormJob& job)
    : parts_(parts),
      job_(job),
      streams_(streams_of(job)),
      plan_(parts.arch, streams_, job.direction),
      registers_(job.elements(), job.config) {
  check();
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
  parts_.dma.forget();
  parts_.a.resize(parts.arch.a_buffer_bytes);
  parts_.b.resize(parts.arch.b_buffer_bytes);
  parts_.results.resize(2 * plan_.result_half_bytes());
  parts_.dram.resize(plan_.dram_bytes());
  fill_dram(job.x, false);
  if (backward()) fill_dram(job.g, true);
  step_ = plan_.step(0);
  dma_step_ = step_;
  parts_.units.select(job.direction, step_.lanes);
  lanes_.resize(step_.lanes);
}

void NormController::check() const {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("batch norm: " + what); };
  const std::int64_t channels = job_.shape.channels;
  const std::int64_t elements = channels * job_.elements();
  const auto one_each = [&](const char* what, std::size_t size) {
    if (static_cast<std::int64_t>(size) != channels)
      refuse(std::to_string(size) + " " + what + " for " + std::to_string(channels) + " channels");
  };
  if (job_.first_channel < 0 || job_.channels > channels - job_.first_channel)
    refuse("channels " + std::to_string(job_.first_channel) + " and up, " + std::to_string(job_.channels) +
           " of them, of a tensor with " + std::to_string(channels));
  if (job_.x.size() != elements || (backward() && job_.g.size() != elements))
    refuse("a tensor of " + std::to_string(elements) + " elements is not what is in memory");
  one_each("gammas", job_.gamma.size());
  if (backward()) {
    one_each("saved statistics", job_.saved.size());
  } else {
    one_each("betas", job_.beta.size());
    if (job_.precision == NormPrecision::int8 && !job_.inv_range && job_.channels != channels)
      refuse("a part of the channels needs the range of inv over all of them");
  }
  if (std::min<std::int64_t>(job_.channels, parts_.arch.norm_lanes) > parts_.units.lanes() ||
      job_.elements() >> parts_.units.index_bits() != 0) {
    refuse("the units were not built for " + std::to_string(job_.channels) + " channels of " +
           std::to_string(job_.elements()) + " elements");
  }
  if (!job_.drain) return;
  check_quantizer(*job_.drain, 32, 0, 0);
  if (job_.drain->rounding.stochastic()) job_.draws.check();
}

// ---------------------------------------------------------------------------------------------------- DRAM

// Block by block, as the transfers will want it: the elements that the lanes take in one cycle side by side.
void NormController::fill_dram(const StoredTensor& tensor, bool gradient) {
  const int bits = tensor.bits();
  std::vector<std::uint8_t> packed;
  for (std::int64_t i = 0; i < plan_.steps(); ++i) {
    const NormStep step = plan_.step(i);
    if (step.second) continue;
    packed.assign(packed_bytes(step.lanes * step.length, bits), 0);
    for (std::int64_t element = 0; element < step.length; ++element) {
      for (std::int64_t lane = 0; lane < step.lanes; ++lane) {
        const std::int64_t tensor_channel =
            job_.first_channel + step.group * parts_.arch.norm_lanes + lane;
        set_packed_element(packed, element * step.lanes + lane, bits,
                           tensor.element(job_.place(tensor_channel, step.first + element)));
      }
    }
    parts_.dma.host_write(gradient ? plan_.g_address(step.block) : plan_.x_address(step.block), packed);
  }
}

NormRun NormController::result() const {
  NormRun run = run_;
  run.codes.resize(job_.channels * job_.elements());
  std::vector<std::uint8_t> packed;
  for (std::int64_t i = 0; i < plan_.steps(); ++i) {
    const NormStep step = plan_.step(i);
    if (!step.second) continue;
    packed.resize(packed_bytes(step.lanes * step.length, streams_.result_bits));
    parts_.dma.host_read(plan_.result_address(step.block), packed);
    for (std::int64_t element = 0; element < step.length; ++element) {
      for (std::int64_t lane = 0; lane < step.lanes; ++lane) {
        const std::int64_t job_channel = step.group * parts_.arch.norm_lanes + lane;
        run.codes[job_channel * job_.elements() + step.first + element] =
            packed_element(packed, element * step.lanes + lane, streams_.result_bits);
      }
    }
  }
  GemmCycles& cycles = run.cycles;
  counter_.add_to(cycles);
  const auto bytes = [](std::uint64_t elements, int bits) { return (elements * bits + 7) / 8; };
  const auto tensor = static_cast<std::uint64_t>(job_.channels * job_.elements());
  cycles.dram_bytes = parts_.dma.bytes_moved();
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

// ----------------------------------------------------------------------------------------------------- DMA

bool NormController::transfer_exists() const {
  switch (dma_transfer_) {
    case Transfer::load_x:
      return dma_index_ < plan_.steps();
    case Transfer::load_g:
      return dma_index_ < plan_.steps() && backward();
    case Transfer::write_back:
      return dma_index_ > 0 && plan_.step(dma_index_ - 1).second;
  }
  return false;
}

void NormController::next_transfer() {
  do {
    if (dma_transfer_ != Transfer::write_back) {
      dma_transfer_ = dma_transfer_ == Transfer::load_x ? Transfer::load_g : Transfer::write_back;
    } else {
      dma_transfer_ = Transfer::load_x;
      ++dma_index_;
      if (dma_index_ < plan_.steps()) dma_step_ = plan_.step(dma_index_);
    }
  } while (!transfer_exists());
}

// A load of step i not before the start of step i - 1, a write-back not before its results are complete.
bool NormController::transfer_may_start() const {
  if (dma_transfer_ == Transfer::write_back) return index_ >= dma_index_;
  return index_ >= dma_index_ || (index_ == dma_index_ - 1 && computing_);
}

void NormController::start_transfer() {
  const std::int64_t elements = dma_step_.lanes * dma_step_.length;
  if (dma_transfer_ == Transfer::load_x) {
    parts_.dma.start_read(plan_.x_address(dma_step_.block), packed_bytes(elements, streams_.x_bits));
  } else if (dma_transfer_ == Transfer::load_g) {
    parts_.dma.start_read(plan_.g_address(dma_step_.block), packed_bytes(elements, streams_.gradient_bits));
  } else {
    const NormStep before = plan_.step(dma_index_ - 1);
    parts_.dma.start_write(plan_.result_address(before.block),
                           parts_.results.bytes(before.block % 2 * plan_.result_half_bytes(),
                                                packed_bytes(before.lanes * before.length,
                                                             streams_.result_bits)));
  }
}

void NormController::end_transfer() {
  const std::int64_t elements = dma_step_.lanes * dma_step_.length;
  const std::int64_t half = dma_index_ % 2;
  if (dma_transfer_ == Transfer::load_x) {
    parts_.a.store({half * (parts_.arch.a_buffer_bytes / 2), 0}, streams_.x_bits, elements,
                   parts_.dma.data());
  } else if (dma_transfer_ == Transfer::load_g) {
    parts_.b.store({half * (parts_.arch.b_buffer_bytes / 2), 0}, streams_.gradient_bits, elements,
                   parts_.dma.data());
  } else {
    ++written_;
  }
  if (!finished()) next_transfer();
}

void NormController::clock_dma() {
  if (!parts_.dma.busy() && transfer_may_start()) start_transfer();
  if (parts_.dma.clock()) end_transfer();
}

// The next step's operands are in the buffers.
bool NormController::loaded() const {
  return dma_index_ > index_ || (dma_index_ == index_ && dma_transfer_ == Transfer::write_back);
}

// ------------------------------------------------------------------------------------------------- feeding

void NormController::write(std::int64_t lane, int port, std::uint64_t value) {
  UnitSlot& unit = parts_.units.lane(lane);
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
  write(lane, Forward::mode, static_cast<std::uint64_t>(step_.second ? BnMode::normalise : BnMode::statistics));
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
  const std::int64_t half = index_ % 2;
  const std::uint32_t x =
      parts_.a.element({half * (parts_.arch.a_buffer_bytes / 2), 0}, at, streams_.x_bits);
  if (!backward()) {
    write(lane, Forward::x, job_.x.value(x));
    return;
  }
  const std::uint32_t g =
      parts_.b.element({half * (parts_.arch.b_buffer_bytes / 2), 0}, at, streams_.gradient_bits);
  const RangeBnSaved& saved = job_.saved[job_.first_channel + channel(lane)];
  const std::int64_t chunk = (step_.first + fed) / registers_.chunk_length;
  write(lane, Backward::x, job_.x.value(x));
  write(lane, Backward::g, job_.g.value(g));
  write(lane, Backward::argmax, static_cast<std::uint64_t>(saved.argmax[chunk]));
  write(lane, Backward::argmin, static_cast<std::uint64_t>(saved.argmin[chunk]));
}

void NormController::drive() {
  if (!computing_ && index_ < plan_.steps() && loaded() && half_free()) begin_step();
  for (std::int64_t lane = 0; lane < std::ssize(lanes_); ++lane) {
    Lane& state = lanes_[lane];
    const bool more = computing_ && lane < step_.lanes && state.fed < step_.length;
    if (more && !state.offering) feed(lane);
    state.offering = more;
    parts_.units.lane(lane).offer(more);
    parts_.units.lane(lane).take(true);
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
  throw std::runtime_error(norm_unit_name(job_.direction) + ", lane " + std::to_string(lane) + ", cycle " +
                           std::to_string(cycle_) + ": " + what);
}

void NormController::take_element(std::int64_t lane, std::uint32_t bits) {
  Lane& state = lanes_[lane];
  if (!computing_ || !step_.second || lane >= step_.lanes || state.results >= state.fed)
    unexpected(lane, "a result that nobody waits for");
  std::uint32_t code = bits;
  if (job_.drain) {
    const std::int64_t place =
        job_.place(job_.first_channel + channel(lane), step_.first + state.results);
    code = convert(bits, *job_.drain, draws_.empty() ? 0 : draws_[place]).code;
  }
  parts_.results.set_element({step_.block % 2 * plan_.result_half_bytes(), 0},
                             state.results * step_.lanes + lane, streams_.result_bits, code);
  ++state.results;
  ++run_.cycles.drained;
}

void NormController::take_forward(std::int64_t lane) {
  const UnitSlot& unit = parts_.units.lane(lane);
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
  const UnitSlot& unit = parts_.units.lane(lane);
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
  const Kind stall = dma_transfer_ == Transfer::write_back ? Kind::write_back : Kind::load;
  counter_.count(computing_ ? Kind::compute : stall);
  bool shown = false;
  if (!units_rest()) {
    for (std::int64_t lane = 0; lane < std::ssize(lanes_); ++lane) {
      const UnitSlot& unit = parts_.units.lane(lane);
      if (lanes_[lane].offering && unit.ready()) element_taken(lane);
      if (!unit.valid()) continue;
      take_result(lane);
      shown = true;
    }
  }
  // What a step leaves behind counts from the next cycle on.
  clock_dma();
  if (computing_ && step_done()) end_step();
  if (computing_ && cycle_ - step_began_ > step_.length + patience_cycles)
    unexpected(0, "a step that does not end");
  quiet_ = computing_ || shown ? 0 : quiet_ + 1;
  ++cycle_;
}

}  // namespace mantissa
