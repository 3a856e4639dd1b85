// What a pass is made of, element by element: the table of ARITHMETIC.md 4, the phases and the lines of 7.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "sim/arch/block_job.hpp"

namespace mantissa::test {

using Count = std::int64_t;

struct Range {
  Count first = 0;
  Count end = 0;
  Count size() const { return end - first; }
};
// Consecutive parts of `part` each, the last one the rest.
std::vector<Range> cut(Range whole, Count part);

// Packed elements.
Count bytes_of(Count elements, int bits);

// A row of an image: image, channel, row. Of w: global column, channel in the group, 0.
using TensorRow = std::array<Count, 3>;
// As in the law's table; what a line of w does not have is 0.
using LineId = std::array<Count, 4>;
using Lines = std::map<LineId, std::set<TensorRow>>;

// One k: (channel in the group, kr, kc), in the weight gradient (b, oh, ow).
using Place = std::array<Count, 3>;

// Where a step is.
struct StepPlace {
  Count block_row = 0;
  Count block_col = 0;
  Range rows;
  Range cols;  // global
  Count phase = 0;
  Count segment = 0;
  Range units;  // of K: channels, in the weight gradient lines
};

class WalkedPass {
 public:
  // Throws std::invalid_argument for layers and rectangles that cannot be.
  WalkedPass(const BlockJob& job, const std::vector<std::uint8_t>& first_nonzero);

  Count rows() const;        // M
  Count group_cols() const;  // N
  Count units() const;       // that K is cut into
  Count phases() const;
  // The units' k, ascending.
  std::vector<Place> ks(Count phase, Range units) const;
  bool in_phase(Count phase, Count m) const;
  // Whether A[m,k] is not zero; padding is.
  bool nonzero(Count group, Count m, const Place& k) const;

  Lines lines_of_a(const StepPlace& step) const;
  Lines lines_of_b(const StepPlace& step) const;
  // Elements of a TensorRow.
  Count row_of_a() const;
  Count row_of_b() const;
  // Elements of a row of g that are not zero.
  Count nonzero_in_gradient(const TensorRow& row) const;

 private:
  using Tap = std::pair<Count, Count>;  // kr, kc
  std::vector<Tap> taps(Count phase) const;
  Place place(Count m) const;  // image, row, column of an output
  std::set<Count> groups(const StepPlace& step) const;
  // Rows of x inside the image that output row oh meets.
  std::set<Count> rows_met_by(Count oh) const;
  bool gradient_at(Count b, Count o, Count oh, Count ow) const;

  const ConvShape shape_;
  const Pass pass_;
  const std::vector<std::uint8_t>& nonzero_;
};

}  // namespace mantissa::test
