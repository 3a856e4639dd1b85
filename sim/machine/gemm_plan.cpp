#include "sim/machine/gemm_plan.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "models/format/packed.hpp"

namespace mantissa {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

GemmPlan::GemmPlan(const Architecture& arch, const GemmShape& shape)
    : shape_(shape),
      rows_(arch.rows),
      cols_(arch.cols),
      step_k_(step_length(arch, shape)),
      tile_rows_(ceil_div(shape.m, arch.rows)),
      tile_cols_(ceil_div(shape.n, arch.cols)),
      segments_(ceil_div(shape.k, step_k_)),
      a_stays_(packed_bytes(rows_ * shape.k, shape.a_bits) <= arch.a_buffer_bytes / 2),
      b_stays_(packed_bytes(shape.k * shape.n, shape.b_bits) <= arch.b_buffer_bytes),
      a_block_(packed_bytes(rows_ * step_k_, shape.a_bits)),
      b_block_(packed_bytes(step_k_ * cols_, shape.b_bits)),
      c_block_(packed_bytes(rows_ * cols_, shape.c_bits)),
      a_half_(a_stays_ ? packed_bytes(rows_ * shape.k, shape.a_bits) : a_block_),
      b_half_(b_stays_ ? packed_bytes(shape.k * shape.n, shape.b_bits) : b_block_) {
  constexpr std::int64_t most = std::int64_t{1} << 36;
  if (dram_bytes() > most) {
    throw std::invalid_argument("a GEMM of " + std::to_string(dram_bytes()) +
                                " bytes is too large to be simulated cycle by cycle; take the fast engine");
  }
}

GemmPlan::TilePlace GemmPlan::tile(std::int64_t index) const {
  TilePlace place{.first_row = index / tile_cols_ * rows_, .first_col = index % tile_cols_ * cols_};
  place.rows = std::min(rows_, shape_.m - place.first_row);
  place.cols = std::min(cols_, shape_.n - place.first_col);
  return place;
}

PlannedStep GemmPlan::step(std::int64_t index) const {
  PlannedStep step{.tile = tile_of(index), .segment = index % segments_};
  const TilePlace place = tile(step.tile);
  step.tile_row = step.tile / tile_cols_;
  step.tile_col = step.tile % tile_cols_;
  step.first_k = step.segment * step_k_;
  step.length = std::min(step_k_, shape_.k - step.first_k);
  step.rows = place.rows;
  step.cols = place.cols;
  step.opens_tile = step.segment == 0;
  step.closes_tile = step.segment == segments_ - 1;
  step.loads_a = !a_stays_ || step.tile_col == 0;
  step.loads_b = !b_stays_ || step.tile_row == 0;
  // What stays lies where the whole of it would; the rest takes turns in the halves, step by step.
  step.a = a_stays_ ? BufferPlace{step.tile_row % 2 * a_half_, step.rows * step.first_k}
                    : BufferPlace{index % 2 * a_half_, 0};
  step.b = b_stays_ ? BufferPlace{0, shape_.k * step.tile_col * cols_ + step.first_k * step.cols}
                    : BufferPlace{index % 2 * b_half_, 0};
  return step;
}

std::int64_t GemmPlan::a_address(const PlannedStep& step) const {
  return (step.tile_row * segments_ + step.segment) * a_block_;
}

std::int64_t GemmPlan::b_address(const PlannedStep& step) const {
  return tile_rows_ * segments_ * a_block_ + (step.tile_col * segments_ + step.segment) * b_block_;
}

std::int64_t GemmPlan::c_address(std::int64_t tile) const {
  return (tile_rows_ * a_block_ + tile_cols_ * b_block_) * segments_ + tile * c_block_;
}

}  // namespace mantissa
