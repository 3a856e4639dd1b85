// The address generator between the buffers and the array: elements of the lowered A and B, made from lines,
// padding by itself (ARITHMETIC.md 4, 7, "Lines", "Phases").
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine/block_operand_memory.hpp"
#include "sim/machine/block_tiles.hpp"

namespace mantissa {

// Keeps references.
class BlockLowering {
 public:
  // `first` and `second` say what stands for the zeros of padding.
  BlockLowering(const BlockPlan& plan, const BlockOperandMemory& a, const BlockOperandMemory& b,
                const EncodedTensor& first, const EncodedTensor& second);

  void begin(const BlockTile& tile, const TileRun& run);
  // Element `k` of the segment, for all rows or columns of the run: visit(index, element), indices from 0.
  template <class Visit>
  void a_slice(std::int64_t k, const Visit& visit) const;
  template <class Visit>
  void b_slice(std::int64_t k, const Visit& visit) const;

 private:
  // Where a row of A or, in the weight gradient, an element of k lies among the images: its first line, and
  // the row and column of the image that the tap (0, 0) without padding would meet.
  struct Place {
    std::int64_t first_line = 0;
    std::int64_t row = 0;
    std::int64_t col = 0;
  };
  // A channel and a tap: element of the line before the column, and what the tap adds to a place.
  struct Tap {
    std::int64_t element = 0;
    std::int64_t weight = 0;  // element of the weights' line, from its column on
    std::int64_t row = 0;
    std::int64_t col = 0;
  };
  void place_rows(const BlockTile& tile);
  void lay_taps(const BlockTile& tile);
  void lay_columns(const TileRun& run);

  bool weight_gradient() const { return plan_.job().pass == Pass::weight_gradient; }
  static std::uint32_t element(const LineBuffer& buffer, std::int64_t first, const Place& place,
                               const Tap& tap, const std::array<std::int64_t, 2>& size, std::uint16_t zero) {
    const std::int64_t row = place.row + tap.row;
    const std::int64_t col = place.col + tap.col;
    if (row < 0 || row >= size[0] || col < 0 || col >= size[1]) return zero;
    return buffer.line(first + place.first_line + row)[tap.element + col];
  }

  const BlockPlan& plan_;
  const BlockOperandMemory& a_;
  const BlockOperandMemory& b_;
  std::uint16_t a_zero_;
  std::uint16_t b_zero_;

  // Of the run.
  std::int64_t step_ = -1;
  std::size_t phase_ = 0;
  std::int64_t a_first_ = 0;  // lines of this group begin with this one
  std::int64_t b_first_ = 0;
  std::array<std::int64_t, 2> size_{};  // of the images
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t first_column_ = 0;       // of the run, as the block counts them
  std::int64_t column_pitch_ = 0;       // elements of a column of weights
  std::int64_t first_row_ = 0;          // of the weight gradient's tile, as the block counts them
  std::vector<Place> places_;           // of rows; in the weight gradient of k
  std::vector<Tap> taps_;               // of k; in the weight gradient of columns
  std::vector<std::int64_t> gradient_;  // of k in the weight gradient: line of g and its column, in turn
};

template <class Visit>
void BlockLowering::a_slice(std::int64_t k, const Visit& visit) const {
  if (weight_gradient()) {
    const std::uint16_t* line = a_.buffer().line(a_first_ + gradient_[2 * k]);
    const std::int64_t width = plan_.job().shape.out[1];
    for (std::int64_t row = 0; row < rows_; ++row)
      visit(row, std::uint32_t{line[(first_row_ + row) * width + gradient_[2 * k + 1]]});
    return;
  }
  for (std::int64_t row = 0; row < rows_; ++row)
    visit(row, element(a_.buffer(), a_first_, places_[row], taps_[k], size_, a_zero_));
}

template <class Visit>
void BlockLowering::b_slice(std::int64_t k, const Visit& visit) const {
  if (weight_gradient()) {
    for (std::int64_t col = 0; col < columns_; ++col)
      visit(col, element(b_.buffer(), b_first_, places_[k], taps_[col], size_, b_zero_));
    return;
  }
  const std::uint16_t* line = b_.buffer().line(b_first_) + first_column_ * column_pitch_ + taps_[k].weight;
  for (std::int64_t col = 0; col < columns_; ++col) visit(col, std::uint32_t{line[col * column_pitch_]});
}

}  // namespace mantissa
