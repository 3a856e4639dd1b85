#include "sim/machine/gemm_feed.hpp"

#include <algorithm>

namespace mantissa {

GemmFeed::GemmFeed(const MachineParts& parts, const ArrayJob& job, const GemmPlan& plan,
                   const GemmMemory& memory, Dequantizer* dequantizer)
    : parts_(parts),
      job_(job),
      plan_(plan),
      memory_(memory),
      dequantizer_(dequantizer),
      step_(plan.step(0)),
      a_beat_(parts.array.width(ArraySlot::a), parts.formats.a.bits()),
      b_beat_(parts.array.width(ArraySlot::b), parts.formats.b.bits()) {
  if (parts.formats.stochastic()) {
    const auto draws = static_cast<std::uint64_t>(job.first_tile) * parts.arch.rows;
    for (int col = 0; col < parts.arch.cols; ++col) seeds_.push_back(job.draws.lane(col, draws).state());
  }
  const Format& a = parts.formats.a.format();
  for (std::uint32_t code = 0; code < 256; ++code) a_zero_[code] = a.is_zero(code & a.code_mask());
}

bool GemmFeed::offer() {
  if (index_ == plan_.steps() || !memory_.loaded(index_, step_)) return false;
  if (!ready_) prepare_beat();
  return true;
}

void GemmFeed::prepare_beat() {
  const Architecture& arch = parts_.arch;
  slices_ = static_cast<int>(
      std::min({std::int64_t{arch.port}, arch.window - fed_ % arch.window, step_.length - fed_}));
  read_operands();

  const bool ends_step = fed_ + slices_ == step_.length;
  ArraySlot& array = parts_.array;
  const auto put = [&array](ArraySlot::Input port, std::uint64_t value) {
    array.write(port, Bits(array.width(port), value));
  };
  array.write(ArraySlot::a, a_beat_.bits());
  array.write(ArraySlot::b, b_beat_.bits());
  put(ArraySlot::count, slices_);
  put(ArraySlot::skip, job_.skip ? 1 : 0);
  put(ArraySlot::last, ends_step ? 1 : 0);
  put(ArraySlot::drain, ends_step && step_.closes_tile ? 1 : 0);
  if (fed_ == 0 && step_.opens_tile) {
    Bits used(array.width(ArraySlot::used));
    for (std::int64_t row = 0; row < step_.rows; ++row) used.flip(static_cast<int>(row));
    array.write(ArraySlot::used, used);
  }
  if (dequantizer_ == nullptr) write_drain_inputs();
  ready_ = true;
}

void GemmFeed::read_operands() {
  const Architecture& arch = parts_.arch;
  a_beat_.clear();
  b_beat_.clear();
  std::uint64_t nonzero = 0;
  for (std::int64_t slice = 0; slice < slices_; ++slice) {
    const std::int64_t k = fed_ + slice;
    for (std::int64_t row = 0; row < step_.rows; ++row) {
      const std::uint32_t a = memory_.a(step_, row * step_.length + k);
      a_beat_.set(slice * arch.rows + row, a);
      if (!is_zero(a)) ++nonzero;
      if (dequantizer_ != nullptr && step_.tile_col == 0)
        dequantizer_->add_a(step_.tile_row * arch.rows + row, a);
    }
    for (std::int64_t col = 0; col < step_.cols; ++col) {
      const std::uint32_t b = memory_.b(step_, k * step_.cols + col);
      b_beat_.set(slice * arch.cols + col, b);
      if (dequantizer_ != nullptr && step_.tile_row == 0)
        dequantizer_->add_b(step_.tile_col * arch.cols + col, b);
    }
  }
  taken_elements_ = job_.skip ? nonzero : static_cast<std::uint64_t>(slices_ * step_.rows);
}

// What the drain of an array of codes needs: biases, the quantizers' scale and seeds.
void GemmFeed::write_drain_inputs() {
  ArraySlot& array = parts_.array;
  array.write(ArraySlot::scale, Bits(8, static_cast<std::uint64_t>(job_.c_scale) & 0xFF));
  if (fed_ == 0 && step_.opens_tile) {
    Bits bias(array.width(ArraySlot::bias));
    for (std::int64_t col = 0; col < step_.cols && !job_.bias.empty(); ++col) {
      const float value = job_.bias[step_.tile_col * parts_.arch.cols + col];
      bias.set_field(static_cast<int>(32 * col), 32, fp32_bits(value));
    }
    array.write(ArraySlot::bias, bias);
  }
  // The lanes take their seeds with the first beat of all.
  const bool first = index_ == 0 && fed_ == 0;
  array.write(ArraySlot::load, Bits(1, first && !seeds_.empty() ? 1 : 0));
  if (first && !seeds_.empty()) {
    Bits seed(array.width(ArraySlot::seed));
    for (std::size_t col = 0; col < seeds_.size(); ++col)
      seed.set_field(static_cast<int>(32 * col), 32, seeds_[col]);
    array.write(ArraySlot::seed, seed);
  }
}

GemmFeed::Ends GemmFeed::taken() {
  if (fed_ == 0) ++begun_;
  counts_.a_taken += taken_elements_;
  counts_.macs += taken_elements_ * static_cast<std::uint64_t>(step_.cols);
  counts_.b_staged += static_cast<std::uint64_t>(slices_ * step_.cols);
  fed_ += slices_;
  ready_ = false;
  if (fed_ < step_.length) return Ends::nothing;
  const Ends ends = step_.closes_tile ? Ends::tile : Ends::step;
  if (step_.closes_tile) ++tiles_;
  fed_ = 0;
  ++index_;
  if (index_ < plan_.steps()) step_ = plan_.step(index_);
  return ends;
}

}  // namespace mantissa
