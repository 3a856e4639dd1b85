#include "sim/units/range_bn_backward.hpp"

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"

namespace mantissa {
namespace {

// h, centred, scaled, products: a register after each; the last one is behind the sums.
constexpr int registers_of_elements = 4;
constexpr int registers_of_results = 1;
// Between the last sum and the results: mh and ds, * C, * 1/k.
constexpr int correction_cycles = 3;

}  // namespace

RangeBnBackward::RangeBnBackward(const sc_core::sc_module_name& name, const UnitParameters& parameters)
    : ClockedUnit(name),
      index_bits_(parameters.at("IndexBits")),
      x_i_(*this, "x_i", 32),
      g_i_(*this, "g_i", 32),
      argmax_i_(*this, "argmax_i", index_bits_),
      argmin_i_(*this, "argmin_i", index_bits_),
      count_i_(*this, "count_i", index_bits_),
      reciprocal_count_i_(*this, "reciprocal_count_i", 32),
      reciprocal_chunks_i_(*this, "reciprocal_chunks_i", 32),
      constant_i_(*this, "constant_i", 32),
      gamma_i_(*this, "gamma_i", 32),
      mean_i_(*this, "mean_i", 32),
      inv_i_(*this, "inv_i", 32),
      gradients_o_(*this, "gradients_o", 1),
      first_o_(*this, "first_o", 32),
      second_o_(*this, "second_o", 32),
      last_o_(*this, "last_o", 1),
      elements_(registers_of_elements),
      results_(registers_of_results) {}

void RangeBnBackward::corrupt(std::string_view stage) { corrupt_ = stage; }

float RangeBnBackward::input(const DataIn& port) const {
  return fp32_value(static_cast<std::uint32_t>(port.value()));
}

bool RangeBnBackward::at_end() const { return index_ + 1 == count_i_.value(); }

bool RangeBnBackward::element_leaves(const std::optional<Element>& element) const {
  return element && (element->scan || results_.ready(ready_i.read()));
}

RangeBnBackward::Element RangeBnBackward::entering() const {
  if (phase_ == Phase::scan) return {.scan = true, .result = {.last = at_end()}};
  float dx = range_bn_input_gradient(input(g_i_), input(gamma_i_), input(inv_i_), correction_);
  if (argmax_i_.value() != argmin_i_.value()) {
    if (index_ == argmax_i_.value()) dx = f32::add(dx, correction_.t);
    if (index_ == argmin_i_.value()) dx = f32::sub(dx, correction_.t);
  }
  const std::uint32_t flip = corrupt_ == "dx" ? 1 : 0;
  return {.scan = false, .result = {.first = fp32_bits(dx) ^ flip, .last = at_end()}};
}

void RangeBnBackward::finish_pass_1() {
  RangeBnRegisters registers;
  registers.reciprocal_n = input(reciprocal_count_i_);
  registers.reciprocal_chunks = input(reciprocal_chunks_i_);
  registers.constant = input(constant_i_);
  sums_ = gradient_sums(x_, g_, input(gamma_i_), input(mean_i_), input(inv_i_));
  correction_ = range_bn_correction(sums_, input(inv_i_), registers);
  x_.clear();
  g_.clear();
}

void RangeBnBackward::evaluate() {
  const bool room = elements_.ready(element_leaves(elements_.front(std::nullopt)));
  switch (phase_) {
    case Phase::scan:
      ready_o.write(room && !at_end());
      break;
    case Phase::apply:
      ready_o.write(room);
      break;
    case Phase::drain:
    case Phase::steps:
      ready_o.write(sums_done() && results_.ready(ready_i.read()));
      break;
  }
  const std::optional<Result> front = results_.front(std::nullopt);
  valid_o.write(front.has_value());
  if (!front) return;
  gradients_o_.put(front->gradients ? 1 : 0);
  first_o_.put(front->first);
  second_o_.put(front->second);
  last_o_.put(front->last ? 1 : 0);
}

void RangeBnBackward::advance() {
  const std::optional<Element> leaving = elements_.front(std::nullopt);
  const bool leaves = element_leaves(leaving);
  const bool room = elements_.ready(leaves);
  const bool enters = streaming() && valid_i.read();
  const std::optional<Element> incoming = enters ? std::optional(entering()) : std::nullopt;

  std::optional<Result> result;
  if (leaving && !leaving->scan) result = leaving->result;
  if (sums_done()) {
    const std::uint32_t flip = corrupt_ == "sums" ? 1 : 0;
    result = Result{true, fp32_bits(sums_.g_xhat) ^ flip, fp32_bits(sums_.g)};
    if (results_.ready(ready_i.read())) phase_ = Phase::apply;
  }
  if (phase_ == Phase::steps && wait_ > 0) --wait_;
  if (phase_ == Phase::drain && leaving && leaving->scan && leaving->result.last) {
    phase_ = Phase::steps;
    wait_ = correction_cycles;
  }
  if (enters && room) {
    const bool end = at_end();
    if (phase_ == Phase::scan) {
      x_.push_back(input(x_i_));
      g_.push_back(input(g_i_));
      if (end) finish_pass_1();
    }
    if (end) phase_ = phase_ == Phase::scan ? Phase::drain : Phase::scan;
    index_ = end ? 0 : index_ + 1;
  }
  elements_.advance(incoming, leaves);
  results_.advance(result, ready_i.read());
}

void RangeBnBackward::reset() {
  phase_ = Phase::scan;
  index_ = 0;
  x_.clear();
  g_.clear();
  elements_.reset();
  results_.reset();
}

}  // namespace mantissa
