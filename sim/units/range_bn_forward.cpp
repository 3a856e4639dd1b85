#include "sim/units/range_bn_forward.hpp"

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

// From the last chunk's indices to 1/s: two products, the range, * C, + eps, and the divider's 27.
constexpr int statistics_cycles = 5 + 27;
constexpr int registers_of_pipe = 3;

}  // namespace

RangeBnForward::RangeBnForward(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name),
      index_bits_(parameters.at("IndexBits")),
      x_i_(*this, "x_i", 32),
      mode_i_(*this, "mode_i", 2),
      count_i_(*this, "count_i", index_bits_),
      chunk_length_i_(*this, "chunk_length_i", index_bits_),
      reciprocal_count_i_(*this, "reciprocal_count_i", 32),
      reciprocal_chunks_i_(*this, "reciprocal_chunks_i", 32),
      constant_i_(*this, "constant_i", 32),
      gamma_i_(*this, "gamma_i", 32),
      beta_i_(*this, "beta_i", 32),
      mean_i_(*this, "mean_i", 32),
      inv_i_(*this, "inv_i", 32),
      kind_o_(*this, "kind_o", 2),
      first_o_(*this, "first_o", 32),
      second_o_(*this, "second_o", 32),
      last_o_(*this, "last_o", 1),
      pipe_(registers_of_pipe) {}

void RangeBnForward::corrupt(std::string_view stage) { corrupt_ = stage; }

bool RangeBnForward::asks(BnMode pass) const { return (mode_i_.value() & static_cast<unsigned>(pass)) != 0; }

float RangeBnForward::input(const DataIn& port) const {
  return fp32_value(static_cast<std::uint32_t>(port.value()));
}

bool RangeBnForward::at_end() const { return index_ + 1 == count_i_.value(); }

RangeBnRegisters RangeBnForward::registers() const {
  RangeBnRegisters registers;
  registers.chunk_length = static_cast<std::int64_t>(chunk_length_i_.value());
  registers.reciprocal_n = input(reciprocal_count_i_);
  registers.reciprocal_chunks = input(reciprocal_chunks_i_);
  registers.constant = input(constant_i_);
  return registers;
}

std::optional<RangeBnForward::Result> RangeBnForward::offered() const {
  if (indices_) return indices_;
  if (statistics_done()) {
    const std::uint32_t flip = corrupt_ == "statistics" ? 1 : 0;
    return Result{BnKind::saved, fp32_bits(saved_.mean), fp32_bits(saved_.inv) ^ flip,
                  !asks(BnMode::normalise)};
  }
  if (scanning() || phase_ == Phase::statistics || !valid_i.read()) return std::nullopt;
  const bool own = asks(BnMode::statistics);
  const float xhat =
      normalised(input(x_i_), own ? saved_.mean : input(mean_i_), own ? saved_.inv : input(inv_i_));
  const std::uint32_t flip = corrupt_ == "normalise" ? 1 : 0;
  return Result{BnKind::element, fp32_bits(f32::fma(xhat, input(gamma_i_), input(beta_i_))) ^ flip, 0,
                at_end()};
}

void RangeBnForward::evaluate() {
  const bool room = pipe_.ready(ready_i.read());
  if (scanning()) {
    ready_o.write((!indices_ || room) && !at_end());
  } else {
    ready_o.write((phase_ != Phase::statistics || statistics_done()) && room);
  }
  const std::optional<Result> front = pipe_.front(std::nullopt);
  valid_o.write(front.has_value());
  if (!front) return;
  kind_o_.put(static_cast<std::uint64_t>(front->kind));
  first_o_.put(front->first);
  second_o_.put(front->second);
  last_o_.put(front->last ? 1 : 0);
}

// An element of pass 1.
void RangeBnForward::take() {
  channel_.push_back(input(x_i_));
  const RangeBnRegisters given = registers();
  const auto seen = static_cast<std::int64_t>(channel_.size());
  if (seen % given.chunk_length == 0) {
    const std::int64_t first = seen - given.chunk_length;
    const RangeBnSaved chunk = range_bn_statistics(std::span(channel_).subspan(first), given);
    const std::uint32_t flip = corrupt_ == "indices" ? 1 : 0;
    indices_ = Result{BnKind::indices, static_cast<std::uint32_t>(first + chunk.argmax[0]) ^ flip,
                      static_cast<std::uint32_t>(first + chunk.argmin[0])};
  }
  if (at_end()) {
    saved_ = range_bn_statistics(channel_, given);
    channel_.clear();
    phase_ = Phase::statistics;
    wait_ = statistics_cycles;
  }
}

void RangeBnForward::advance() {
  const bool room = pipe_.ready(ready_i.read());
  const bool scan = scanning();
  const bool saved = statistics_done() && room;
  const bool folded = indices_ && room;
  const bool moves = valid_i.read() && (scan ? !indices_ || room : phase_ != Phase::statistics && room);
  const bool end = at_end();
  pipe_.advance(offered(), ready_i.read());

  if (folded) {
    indices_.reset();
  } else if (phase_ == Phase::statistics && !indices_ && wait_ > 0) {
    --wait_;
  }
  if (saved) phase_ = asks(BnMode::normalise) ? Phase::normalise : Phase::scan;
  if (!moves) return;
  if (scan) {
    take();
  } else if (end) {
    phase_ = Phase::scan;
  }
  index_ = end ? 0 : index_ + 1;
}

void RangeBnForward::reset() {
  phase_ = Phase::scan;
  index_ = 0;
  channel_.clear();
  indices_.reset();
  pipe_.reset();
}

}  // namespace mantissa
