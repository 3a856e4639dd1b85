#include "sim/machine/block_drain.hpp"

#include <algorithm>

#include "models/mac/arithmetic.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {

BlockDrain::BlockDrain(const BlockParts& parts, const BlockArrayJob& job, const BlockPlan& plan,
                       BlockSumBuffer& c, BlockXMemory& x, const DrainParts& with)
    : parts_(parts),
      job_(job),
      plan_(plan),
      c_(c),
      dequantizer_(with.dequantizer),
      x_(x),
      statistics_(with.statistics),
      rows_in_a_cycle_(job.statistics.kind == DrainStatistics::none ? parts.arch.sum_rows : 1),
      sides_(sides_of(job.shape, job.pass)),
      quantize_{.to = parts.formats.c,
                .rounding = parts.formats.c_rounding,
                .overflow = parts.formats.c_overflow,
                .scale = job.c_scale},
      flags_(job.outputs.elements()) {
  if (parts.formats.stochastic()) lanes_.assign(parts.arch.cols, Lfsr(1, parts.formats.leap));
}

void BlockDrain::begin() {
  block_ = plan_.outputs(blocks_);
  first_row_ = block_.row0;
  first_col_ = block_.col0;
  row_ = 0;
  state_ = State::send;
  set_lanes();
}

// Lane by lane the draws of the natural tile that the column's output lies in (ARITHMETIC.md 7, "Tiles and
// drain"): several groups may lie side by side here.
void BlockDrain::set_lanes() {
  const std::int64_t rows = parts_.arch.rows;
  const std::int64_t cols = parts_.arch.cols;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const std::int64_t col = first_col_ + static_cast<std::int64_t>(lane);
    if (col >= block_.col1) return;
    const std::int64_t group = col / sides_.n;
    const std::int64_t n = col % sides_.n;
    const std::int64_t tile =
        group * tiles_of(sides_, rows, cols) + first_row_ / rows * ceil_div(sides_.n, cols) + n / cols;
    lanes_[lane] =
        job_.draws.lane(static_cast<std::uint64_t>(n % cols), static_cast<std::uint64_t>(tile * rows));
  }
}

void BlockDrain::send(std::int64_t row, std::int64_t lane) {
  const std::uint32_t draw = lanes_.empty() ? 0 : lanes_[lane].draw();
  const std::int64_t m = first_row_ + row;
  const std::int64_t n = first_col_ + lane;
  if (m >= block_.row1) return;
  ++elements_;
  const std::uint32_t code = dequantizer_ != nullptr
                                 ? fp32_bits(dequantizer_->output(c_.word(blocks_, m, n), m, n))
                                 : quantized(m, n, draw);
  c_.put_code(blocks_, m, n, code);
  if (statistics_ == nullptr) return;
  statistics_->drained(lane, m, n, code, x_.needed() ? x_.element(blocks_, m, n) : 0);
}

// Sum to FP32, bias, quantizer; each with one rounding.
std::uint32_t BlockDrain::quantized(std::int64_t m, std::int64_t n, std::uint32_t draw) {
  const auto sum = static_cast<std::uint32_t>(c_.word(blocks_, m, n));
  std::uint32_t value = convert(sum, {.from = parts_.formats.accumulator}).code;
  if (!job_.bias.empty()) value = fp32_add(value, fp32_bits(job_.bias[n])).code;
  const Rounded code = convert(value, quantize_, draw);
  const Rectangle& all = job_.outputs;
  flags_[(m - all.row0) * all.cols() + n - all.col0] = static_cast<std::uint8_t>(code.flags.bits());
  return code.code;
}

void BlockDrain::send_rows() {
  const std::int64_t end = std::min<std::int64_t>(row_ + rows_in_a_cycle_, parts_.arch.rows);
  const std::int64_t cols = std::min<std::int64_t>(parts_.arch.cols, block_.col1 - first_col_);
  for (; row_ < end; ++row_) {
    for (std::int64_t lane = 0; lane < cols; ++lane) send(row_, lane);
  }
  if (row_ == parts_.arch.rows) next_tile();
}

void BlockDrain::next_tile() {
  ++tiles_;
  row_ = 0;
  first_col_ += parts_.arch.cols;
  if (first_col_ >= block_.col1) {
    first_col_ = block_.col0;
    first_row_ += parts_.arch.rows;
  }
  if (first_row_ < block_.row1) {
    set_lanes();
    return;
  }
  flush_left_ = parts_.arch.pipe_latency;
  state_ = State::flush;
  if (flush_left_ == 0) end_block();
}

void BlockDrain::end_block() {
  x_.forget(blocks_);
  ++blocks_;
  state_ = State::idle;
}

void BlockDrain::clock() {
  if (state_ == State::idle) {
    if (blocks_ == plan_.blocks() || !c_.is_complete(blocks_) || !x_.arrived(blocks_)) return;
    begin();
  }
  if (state_ == State::send) {
    send_rows();
  } else if (--flush_left_ == 0) {
    end_block();
  }
}

}  // namespace mantissa
