#include "sim/machine/block_lines.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace mantissa {

std::vector<std::int64_t> BlockLines::needed(std::int64_t step) const {
  std::vector<std::int64_t> lines;
  const BlockPiece& piece = operand_.pieces[step];
  for (std::int64_t group = piece.group0; group < piece.group1; ++group) {
    const std::vector<std::uint64_t>& set = operand_.line_sets[piece.lines];
    for (std::int64_t word = 0; word < operand_.words(); ++word) {
      for (std::uint64_t left = set[word]; left != 0; left &= left - 1)
        lines.push_back(name(step, group, 64 * word + std::countr_zero(left)));
    }
  }
  return lines;
}

BlockLines::Range BlockLines::columns(std::int64_t block_col) const {
  const Rectangle& out = plan_.job().outputs;
  const std::int64_t begin = out.col0 + block_col * plan_.mapping().n_block;
  return {begin, std::min(begin + plan_.mapping().n_block, out.col1)};
}

BlockLines::Range BlockLines::units(std::int64_t segment) const {
  const std::int64_t begin = segment * plan_.mapping().k_block;
  return {begin, std::min(begin + plan_.mapping().k_block, plan_.k_units())};
}

std::int64_t BlockLines::first_channel(const BlockPlan& plan, const Rectangle& block, std::int64_t group) {
  const ConvShape& g = plan.job().shape;
  return std::max(block.col0 - group * plan.columns_per_group(), std::int64_t{0}) /
         (g.kernel[0] * g.kernel[1]);
}

// Row `line` % height of image `line` / height of a tensor with so many channels, in some of them.
void BlockLines::add_image_line(std::int64_t channels, const std::array<std::int64_t, 2>& size, Range of,
                                std::int64_t line, std::vector<ElementPiece>& pieces) const {
  const std::int64_t image = line / size[0];
  for (std::int64_t channel = of.begin; channel < of.end; ++channel)
    add_piece(pieces, ((image * channels + channel) * size[0] + line % size[0]) * size[1], size[1]);
}

// Columns of the forward pass are output channels, those of the input gradient input channels.
void BlockLines::add_weights(std::int64_t outer, std::vector<ElementPiece>& pieces) const {
  const ConvShape& g = plan_.job().shape;
  const std::int64_t taps = g.kernel[0] * g.kernel[1];
  const Range k = units(outer / plan_.block_cols());
  const Range cols = columns(outer % plan_.block_cols());
  for (std::int64_t col = cols.begin; col < cols.end; ++col) {
    if (plan_.job().pass == Pass::forward) {
      add_piece(pieces, (col * g.in_group() + k.begin) * taps, (k.end - k.begin) * taps);
      continue;
    }
    const std::int64_t group = col / g.in_group();
    for (std::int64_t o = k.begin; o < k.end; ++o)
      add_piece(pieces, ((group * g.out_group() + o) * g.in_group() + col % g.in_group()) * taps, taps);
  }
}

void BlockLines::add_pieces(std::int64_t line, std::vector<ElementPiece>& pieces) const {
  const ConvShape& g = plan_.job().shape;
  const std::int64_t outer = line / operand_.lines / operand_.groups;
  const std::int64_t group = line / operand_.lines % operand_.groups;
  const std::int64_t place = line % operand_.lines;
  const auto of_group = [group](Range channels, std::int64_t per_group) {
    return Range{group * per_group + channels.begin, group * per_group + channels.end};
  };
  if (plan_.job().pass == Pass::weight_gradient) {
    if (side_ == GemmSide::a) {
      const Rectangle& out = plan_.job().outputs;
      const std::int64_t row = out.row0 + outer * plan_.mapping().m_block;
      const Range rows{row, std::min(row + plan_.mapping().m_block, out.row1)};
      return add_image_line(g.out_channels, g.out, of_group(rows, g.out_group()), place, pieces);
    }
    const std::int64_t taps = g.kernel[0] * g.kernel[1];
    const Range cols = columns(outer);
    const std::int64_t last =
        std::min(cols.end - group * plan_.columns_per_group(), plan_.columns_per_group());
    const Range touched{first_channel(plan_, {0, 0, cols.begin, cols.end}, group), (last - 1) / taps + 1};
    return add_image_line(g.in_channels, g.in, of_group(touched, g.in_group()), place, pieces);
  }
  if (side_ == GemmSide::b) return add_weights(outer, pieces);
  if (plan_.job().pass == Pass::forward)
    return add_image_line(g.in_channels, g.in, of_group(units(outer), g.in_group()), place, pieces);
  add_image_line(g.out_channels, g.out, of_group(units(outer), g.out_group()), place, pieces);
}

}  // namespace mantissa
