#include "sim/verify/units/block_array_tiles.hpp"

#include "models/format/convert.hpp"
#include "sim/stimulus/vector_unit.hpp"
#include "sim/units/skip_window.hpp"

namespace mantissa::verify {
namespace {

constexpr int pool_size = 64;
constexpr int pool_corners = 4;  // of them stay

Bits all_ones(int width) {
  Bits bits(width);
  for (int i = 0; i < width; ++i) bits.set_field(i, 1, 1);
  return bits;
}

// A fifth of them any, others the first ones; of columns, some that stand side by side.
Bits mask(stimulus::Dice& dice, int width, int in_use) {
  Bits bits(width);
  const std::uint64_t kind = dice.below(5);
  const int first = kind == 1 ? dice.between(0, width - in_use) : 0;
  for (int i = 0; i < width; ++i)
    bits.set_field(i, 1, kind == 0 ? dice.bits(1) : i >= first && i < first + in_use ? 1 : 0);
  return bits;
}

}  // namespace

BlockTilePlan::BlockTilePlan(const BlockArray& array, std::uint64_t number, stimulus::Dice& dice)
    : array_(&array),
      number_(number),
      cut_(array.skip_window, array.cols, number, dice),
      pieces_(dice.below(3) == 0 ? dice.between(1, 2) : 0),
      codes_(dice) {
  if (number < 1 || number > 3) return;
  // Sums at the two ends of the range.
  only_a_ = number == 3 ? 1 : array.a.max_code();
  only_b_ = number == 3 ? 1 : array.b.max_code();
  pieces_ = 0;
  all_ = true;
  const SkipWindow& window = array.skip_window;
  cut_.fill(number == 3 ? 1 : window.window * (number == 2 ? window.depth + 2 : 1));
}

BlockTilePlan BlockTilePlan::dense(const BlockArray& array, int k, stimulus::Dice& dice) {
  BlockTilePlan plan(array, 0, dice);
  plan.cut_.fill(k);
  plan.cut_.skip = false;
  plan.cut_.density = 8;
  plan.pieces_ = 0;
  plan.all_ = true;
  plan.codes_.specials = false;
  return plan;
}

void BlockTilePlan::begin_run(stimulus::Dice& dice) {
  if (cut_.finished()) {
    cut_ = TileCut(array_->skip_window, array_->cols, number_, dice);
    --pieces_;
  }
  used_rows_ = all_ ? all_ones(array_->rows()) : mask(dice, array_->rows(), cut_.rows);
  enabled_cols_ = all_ ? all_ones(array_->cols) : mask(dice, array_->cols, cut_.cols);
}

Transaction BlockTilePlan::beat(stimulus::Dice& dice) {
  if (!in_run_) begin_run(dice);
  const TileCut::Beat cut = cut_.next();
  in_run_ = !cut.ends_step;
  const bool swaps = cut.ends_tile && pieces_ == 0;
  // What rows and columns that take no part have does not count; swap_i counts in the last beat of a run.
  return {matrix(dice, array_->rows(), array_->a, cut_.density, only_a_),
          matrix(dice, array_->cols, array_->b, 8, only_b_),
          Bits(slice_count_bits(array_->skip_window), cut.slices),
          used_rows_,
          Bits(1, cut_.skip ? 1 : 0),
          Bits(1, cut.ends_step ? 1 : 0),
          enabled_cols_,
          Bits(1, cut.ends_step ? (swaps ? 1 : 0) : dice.bits(1)),
          Bits(1),
          Bits(array_->sum_rows * array_->cols * array_->accumulator.bits())};
}

Bits BlockTilePlan::matrix(stimulus::Dice& dice, int elements, const Format& format, std::uint64_t density,
                           std::uint32_t only) const {
  const int all = array_->skip_window.port * elements;
  Bits bits(all * format.bits());
  for (int i = 0; i < all; ++i) {
    const std::uint32_t code =
        only != 0 ? only | (i % 2 == 0 ? 0 : format.sign_bit()) : codes_.code(dice, format, density);
    bits.set_field(i * format.bits(), format.bits(), code);
  }
  return bits;
}

SumPool::SumPool(const BlockArray& array) : array_(array), sums_(pool_size, 0) {
  const Format& format = array.accumulator;
  const bool infinite = format.has_inf() && (array.a.has_inf() || array.b.has_inf());
  sums_[0] = convert(fp32_bits(1), {.to = format}).code;
  if (infinite) sums_[1] = format.inf_code();
  if (infinite) sums_[2] = format.inf_code() | format.sign_bit();
  if (array.a.has_nan() || array.b.has_nan()) sums_[3] = format.nan_code();
}

// Of Inf and NaN there are enough, and old sums stay for a while.
void SumPool::put(std::uint32_t sum, stimulus::Dice& dice) {
  if (array_.accumulator.is_inf(sum) || array_.accumulator.is_nan(sum) || dice.below(4) != 0) return;
  sums_[pool_corners + dice.below(pool_size - pool_corners)] = sum;
}

void SumPool::offer(Transaction& inputs, stimulus::Dice& dice) const {
  const int bits = array_.accumulator.bits();
  inputs[BlockTilePlan::load] = Bits(1, dice.below(4) == 0 ? 0 : 1);
  Bits& sums = inputs[BlockTilePlan::sum];
  for (int low = 0; low < sums.width(); low += bits) sums.set_field(low, bits, sums_[dice.below(pool_size)]);
}

}  // namespace mantissa::verify
