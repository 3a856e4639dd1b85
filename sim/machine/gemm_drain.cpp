#include "sim/machine/gemm_drain.hpp"

#include <stdexcept>

#include "models/mac/int_mac.hpp"

namespace mantissa {

GemmDrain::GemmDrain(const MachineParts& parts, const GemmPlan& plan, GemmMemory& memory,
                     const Dequantizer* dequantizer)
    : parts_(parts),
      plan_(plan),
      memory_(memory),
      dequantizer_(dequantizer),
      flags_(plan.shape().m * plan.shape().n) {}

// A drain begins when its half of C has been written back; its first row comes PipeLatency cycles later.
bool GemmDrain::may_take(std::int64_t cycle) const {
  if (tiles_ < 2) return true;
  return memory_.half_free(tiles_) && cycle >= memory_.free_since(tiles_) + parts_.arch.pipe_latency;
}

// What lies outside of the matrix is dropped.
void GemmDrain::take_row() {
  const GemmPlan::TilePlace tile = plan_.tile(tiles_);
  if (row_ < tile.rows) {
    if (dequantizer_ != nullptr) {
      take_sums(tile);
    } else {
      take_codes(tile);
    }
    elements_ += static_cast<std::uint64_t>(tile.cols);
  }
  ++row_;
  if (parts_.array.output(ArraySlot::row_last).value() == 0) return;
  if (dequantizer_ != nullptr) {
    if (parts_.array.output(ArraySlot::overflow).value() != 0)
      throw std::overflow_error("a sum of integers does not fit the accumulator");
  } else if (parts_.array.output(ArraySlot::suppressed).value() != 0) {
    ++suppressed_tiles_;
  }
  row_ = 0;
  ++tiles_;
}

void GemmDrain::take_codes(const GemmPlan::TilePlace& tile) {
  const Bits& codes = parts_.array.output(ArraySlot::c);
  const Bits& flags = parts_.array.output(ArraySlot::flags);
  const int code_bits = parts_.formats.c.bits();
  std::uint8_t* flag = flags_.data() + (tile.first_row + row_) * plan_.shape().n + tile.first_col;
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    const auto code = static_cast<std::uint32_t>(codes.field(static_cast<int>(col) * code_bits, code_bits));
    memory_.put_c(tiles_, row_ * tile.cols + col, code);
    flag[col] = static_cast<std::uint8_t>(flags.field(static_cast<int>(col) * 5, 5));
  }
}

void GemmDrain::take_sums(const GemmPlan::TilePlace& tile) {
  const Bits& sums = parts_.array.output(ArraySlot::c);
  for (std::int64_t col = 0; col < tile.cols; ++col) {
    const std::uint64_t sum = sums.field(static_cast<int>(col) * int_mac_acc_bits, int_mac_acc_bits);
    const float value = dequantizer_->output(sum, tile.first_row + row_, tile.first_col + col);
    memory_.put_c(tiles_, row_ * tile.cols + col, fp32_bits(value));
  }
}

}  // namespace mantissa
