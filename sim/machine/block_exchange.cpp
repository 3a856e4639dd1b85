#include "sim/machine/block_exchange.hpp"

#include <algorithm>
#include <stdexcept>

namespace mantissa {

BlockExchange::BlockExchange(const BlockParts& parts, const BlockPlan& plan, BlockSumBuffer& c)
    : parts_(parts),
      plan_(plan),
      c_(c),
      leaving_(parts.arch, plan),
      coming_(parts.arch, plan),
      no_sums_(parts.array.width(BlockArraySlot::sum)) {
  for (int turn = 0; turn < 2 && !coming_.done(); ++turn) coming_.next();
}

// Rows and columns that are not in use stay here.
void BlockExchange::store_rows() {
  const BlockTile& tile = leaving_.last();
  const Bits& sums = parts_.array.output(BlockArraySlot::sums);
  const int bits = parts_.formats.sum_bits();
  const std::int64_t end = std::min<std::int64_t>(row_ + parts_.arch.sum_rows, tile.rows);
  for (std::int64_t row = row_; row < end; ++row) {
    const std::int64_t out = output_row(plan_, tile, row);
    for (std::int64_t col = 0; col < tile.cols; ++col) {
      const auto field = static_cast<int>((row - row_) * parts_.arch.cols + col);
      c_.put(tile.block, out, tile.col0 + col, sums.field(field * bits, bits));
    }
    stored_ += static_cast<std::uint64_t>(tile.cols);
  }
}

void BlockExchange::load_rows() {
  const bool goes_on = !coming_.done() && coming_.first().goes_on;
  parts_.array.write(BlockArraySlot::load, Bits(1, goes_on ? 1 : 0));
  if (!goes_on) {
    parts_.array.write(BlockArraySlot::sum, no_sums_);
    return;
  }
  const BlockTile& tile = coming_.first();
  const int bits = parts_.formats.sum_bits();
  Bits sums(no_sums_.width());
  const std::int64_t end = std::min<std::int64_t>(row_ + parts_.arch.sum_rows, tile.rows);
  for (std::int64_t row = row_; row < end; ++row) {
    const std::int64_t out = output_row(plan_, tile, row);
    for (std::int64_t col = 0; col < tile.cols; ++col) {
      const auto field = static_cast<int>((row - row_) * parts_.arch.cols + col);
      sums.set_field(field * bits, bits, c_.sum(tile.block, out, tile.col0 + col));
    }
    loaded_ += static_cast<std::uint64_t>(tile.cols);
  }
  parts_.array.write(BlockArraySlot::sum, sums);
}

// Out first: with two tiles in a step, what comes in is what has just gone out.
void BlockExchange::drive() {
  if (!parts_.array.exchanges()) return;
  if (leaving_.done()) throw std::logic_error("the array gives sums that nobody waits for");
  store_rows();
  load_rows();
}

void BlockExchange::cycle() {
  if (!parts_.array.exchanges()) return;
  row_ += parts_.arch.sum_rows;
  if (parts_.array.output(BlockArraySlot::row_last).value() == 0) return;
  if (row_ < parts_.arch.rows) throw std::logic_error("the array gives fewer rows than it has");
  row_ = 0;
  ++done_;
  if (parts_.formats.integers()) {
    if (parts_.array.output(BlockArraySlot::overflow).value() != 0)
      throw std::overflow_error("a sum of integers does not fit the accumulator");
  } else if (parts_.array.output(BlockArraySlot::suppressed).value() != 0) {
    ++suppressed_tiles_;
  }
  const BlockTile& tile = leaving_.last();
  if (tile.ends_step && plan_.steps()[tile.step].closes_block) c_.complete(tile.block);
  leaving_.next();
  if (!coming_.done()) coming_.next();
}

}  // namespace mantissa
