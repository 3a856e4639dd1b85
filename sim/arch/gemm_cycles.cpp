#include "sim/arch/gemm_cycles.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "sim/arch/buffer_too_small.hpp"
#include "sim/arch/gemm_timeline.hpp"
#include "sim/arch/sizes.hpp"

namespace mantissa {
namespace {

std::string text_of(const GemmShape& shape) {
  return fmt::format("GEMM of M {}, N {}, K {}", shape.m, shape.n, shape.k);
}

void check_shape(const GemmShape& shape) {
  check_gemm_size(shape.m, shape.n, shape.k);
  for (const int bits : {shape.a_bits, shape.b_bits, shape.c_bits}) {
    if (bits < 1 || bits > 32) {
      throw std::invalid_argument("elements have 1..32 bits in memory, not " + std::to_string(bits));
    }
  }
}

// How a GEMM is cut (ARITHMETIC.md 7, "Steps").
struct Cut {
  Cut(const Architecture& arch, const GemmShape& shape)
      : tile_rows(ceil_div(shape.m, arch.rows)),
        tile_cols(ceil_div(shape.n, arch.cols)),
        step_k(step_length(arch, shape)),
        segments(ceil_div(shape.k, step_k)),
        a_stays(packed_bytes(arch.rows * shape.k, shape.a_bits) <= arch.a_buffer_bytes / 2),
        b_stays(packed_bytes(shape.k * shape.n, shape.b_bits) <= arch.b_buffer_bytes) {}

  std::int64_t tile_rows;
  std::int64_t tile_cols;
  std::int64_t step_k;
  std::int64_t segments;
  bool a_stays;
  bool b_stays;
};

// What the array does in the steps of one tile row: the same for all its tiles.
class RowSteps {
 public:
  RowSteps(const Architecture& arch, const GemmShape& shape, const Cut& cut, bool skip,
           std::span<const std::uint16_t> nonzero)
      : shape_(shape),
        cut_(cut),
        nonzero_(nonzero),
        scheduler_(arch.skip_window(skip)),
        steps_(cut.segments) {
    if (skip) return;
    // All rows take the same time, used or not: two lengths are all there is.
    const std::int64_t rest = shape.k - (cut.segments - 1) * cut.step_k;
    if (cut.segments > 1) {
      std::fill(steps_.begin(), steps_.end() - 1, scheduler_.dense(cut.step_k, 0).cycles);
    }
    steps_.back() = scheduler_.dense(rest, 0).cycles;
  }

  void move_to(std::int64_t tile_row) {
    const int rows = scheduler_.array().rows;
    rows_in_use_ = std::min<std::int64_t>(rows, shape_.m - tile_row * rows);
    if (!scheduler_.array().skip) {
      taken_ = rows_in_use_ * shape_.k;
      return;
    }
    const std::int64_t windows = scheduler_.array().windows(shape_.k);
    const std::int64_t step_windows = scheduler_.array().windows(cut_.step_k);
    taken_ = 0;
    for (std::int64_t segment = 0; segment < cut_.segments; ++segment) {
      const std::int64_t first = tile_row * rows * windows + segment * step_windows;
      const SkipSchedule step =
          scheduler_.schedule(length(segment), nonzero_.subspan(first), rows_in_use_, windows);
      steps_[segment] = step.cycles;
      taken_ += step.elements_taken;
    }
  }

  std::int64_t rows_in_use() const { return rows_in_use_; }
  std::uint64_t elements_taken() const { return taken_; }  // of A, by one tile
  std::int64_t length(std::int64_t segment) const {
    return std::min(cut_.step_k, shape_.k - segment * cut_.step_k);
  }
  std::uint64_t cycles(std::int64_t segment) const { return steps_[segment]; }

 private:
  const GemmShape& shape_;
  const Cut& cut_;
  std::span<const std::uint16_t> nonzero_;
  SkipScheduler scheduler_;
  std::vector<std::uint64_t> steps_;
  std::int64_t rows_in_use_ = 0;
  std::uint64_t taken_ = 0;
};

void check_conservation(const GemmCycles& cost, const GemmShape& shape, std::uint64_t end) {
  const auto all = static_cast<std::uint64_t>(shape.m * shape.n * shape.k);
  if (cost.macs > all || cost.macs + cost.skipped != all || cost.cycles() != end) {
    throw std::logic_error("the cost of a " + text_of(shape) + " does not add up");
  }
}

}  // namespace

void check_gemm_size(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string text = text_of({.m = m, .n = n, .k = k});
  for (const std::int64_t size : {m, n, k}) {
    if (size < 1 || size > max_gemm_size) {
      throw std::invalid_argument(text + ": each must be 1.." + std::to_string(max_gemm_size));
    }
  }
  if (m * n > max_gemm_macs / k) throw std::invalid_argument(text + " has more than 2^48 products");
}

GemmCycles& GemmCycles::operator+=(const GemmCycles& other) {
  compute += other.compute;
  stall_load += other.stall_load;
  stall_write_back += other.stall_write_back;
  stall_drain += other.stall_drain;
  dram_bytes += other.dram_bytes;
  dram_bytes_unique += other.dram_bytes_unique;
  tensor_bytes += other.tensor_bytes;
  sram_bytes += other.sram_bytes;
  a_taken += other.a_taken;
  b_staged += other.b_staged;
  drained += other.drained;
  sums_stored += other.sums_stored;
  sums_loaded += other.sums_loaded;
  macs += other.macs;
  skipped += other.skipped;
  tiles += other.tiles;
  steps += other.steps;
  return *this;
}

std::int64_t step_length(const Architecture& arch, const GemmShape& shape) {
  arch.check();
  check_shape(shape);
  const std::int64_t half_a = arch.a_buffer_bytes / 2;
  const std::int64_t half_b = arch.b_buffer_bytes / 2;
  if (packed_bytes(arch.rows * shape.k, shape.a_bits) <= half_a &&
      packed_bytes(shape.k * arch.cols, shape.b_bits) <= half_b) {
    return shape.k;
  }
  const std::int64_t a_window = packed_bytes(std::int64_t{arch.rows} * arch.window, shape.a_bits);
  const std::int64_t b_window = packed_bytes(std::int64_t{arch.window} * arch.cols, shape.b_bits);
  const std::int64_t windows = std::min(half_a / a_window, half_b / b_window);
  if (windows == 0) {
    const bool a = half_a < a_window;
    throw BufferTooSmall(a ? "a_buffer" : "b_buffer", a ? arch.a_buffer_bytes : arch.b_buffer_bytes,
                         2 * (a ? a_window : b_window),
                         fmt::format("one window of {} takes {} bytes, and half the buffer must hold it",
                                     arch.window, a ? a_window : b_window));
  }
  return windows * arch.window;
}

GemmCycles gemm_cycles(const Architecture& arch, const GemmShape& shape, bool skip,
                       std::span<const std::uint16_t> nonzero, TimelineRecorder* recorder) {
  const Cut cut(arch, shape);  // checks both
  const std::int64_t counts = shape.m * ceil_div(shape.k, arch.window);
  if (skip && static_cast<std::int64_t>(nonzero.size()) != counts) {
    throw std::invalid_argument(fmt::format("{} has {} non-zero counts in windows of {}, not {}",
                                            text_of(shape), counts, arch.window, nonzero.size()));
  }
  const std::int64_t steps = cut.tile_rows * cut.tile_cols * cut.segments;
  if (steps > max_gemm_steps) {
    throw std::invalid_argument(
        fmt::format("{} takes {} steps on this machine; more than {} are not modelled: take larger buffers "
                    "or a larger array",
                    text_of(shape), steps, max_gemm_steps));
  }
  RowSteps row(arch, shape, cut, skip, nonzero);
  GemmTimeline timeline(arch, recorder);
  GemmCycles cost;
  std::int64_t c_bytes = 0;  // of the tile before
  for (std::int64_t tile_row = 0; tile_row < cut.tile_rows; ++tile_row) {
    row.move_to(tile_row);
    for (std::int64_t tile_col = 0; tile_col < cut.tile_cols; ++tile_col) {
      const std::int64_t cols = std::min<std::int64_t>(arch.cols, shape.n - tile_col * arch.cols);
      for (std::int64_t segment = 0; segment < cut.segments; ++segment) {
        const std::int64_t k = row.length(segment);
        const bool loads_a = !cut.a_stays || tile_col == 0;
        const bool loads_b = !cut.b_stays || tile_row == 0;
        timeline.step({.a_bytes = loads_a ? packed_bytes(row.rows_in_use() * k, shape.a_bits) : 0,
                       .b_bytes = loads_b ? packed_bytes(k * cols, shape.b_bits) : 0,
                       .c_bytes_before = c_bytes,
                       .compute = row.cycles(segment),
                       .opens_tile = segment == 0,
                       .closes_tile = segment == cut.segments - 1});
      }
      c_bytes = packed_bytes(row.rows_in_use() * cols, shape.c_bits);
      cost.macs += row.elements_taken() * static_cast<std::uint64_t>(cols);
    }
    cost.a_taken += row.elements_taken() * static_cast<std::uint64_t>(cut.tile_cols);
  }
  timeline.finish(c_bytes, cost);
  cost.dram_bytes_unique = static_cast<std::uint64_t>(packed_bytes(shape.m * shape.k, shape.a_bits) +
                                                      packed_bytes(shape.k * shape.n, shape.b_bits) +
                                                      packed_bytes(shape.m * shape.n, shape.c_bits));
  cost.b_staged = static_cast<std::uint64_t>(shape.k * shape.n * cut.tile_rows);
  cost.drained = static_cast<std::uint64_t>(shape.m * shape.n);
  cost.sram_bytes = cost.dram_bytes + (cost.a_taken * shape.a_bits + 7) / 8 +
                    (cost.b_staged * shape.b_bits + 7) / 8 + (cost.drained * shape.c_bits + 7) / 8;
  cost.skipped = static_cast<std::uint64_t>(shape.m * shape.n * shape.k) - cost.macs;
  cost.tiles = static_cast<std::uint64_t>(cut.tile_rows * cut.tile_cols);
  cost.steps = static_cast<std::uint64_t>(steps);
  check_conservation(cost, shape, timeline.end());
  return cost;
}

}  // namespace mantissa
