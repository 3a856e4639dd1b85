#include "sim/machine/block_operand_memory.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/format/packed.hpp"

namespace mantissa {

BlockOperandMemory::BlockOperandMemory(const BlockPlan& plan, GemmSide side, std::int64_t buffer_bytes,
                                       const std::string& key)
    : lines_(plan, side),
      keep_(plan, lines_, buffer_bytes, key),
      buffer_(lines_, buffer_bytes),
      expected_(lines_) {}

void BlockOperandMemory::lay(const EncodedTensor& tensor, std::int64_t address, Dma& dma) {
  address_ = address;
  const auto count = static_cast<std::int64_t>(tensor.size());
  moved_.assign(count, false);
  std::vector<std::uint8_t> packed(packed_bytes(count, lines_.bits()));
  for (std::int64_t i = 0; i < count; ++i) set_packed_element(packed, i, lines_.bits(), tensor.element(i));
  dma.host_write(address, packed);
}

// A line is there if a step before needed it and every step since has kept it.
std::vector<std::int64_t> BlockOperandMemory::missing(std::int64_t step) {
  if (step > 0 && keep_.changes(step - 1)) expected_.retain(keep_.kept(step - 1));
  std::vector<std::int64_t> missing;
  for (const std::int64_t line : lines_.needed(step)) {
    if (expected_.has(line)) continue;
    expected_.add(line);
    missing.push_back(line);
  }
  return missing;
}

void BlockOperandMemory::issue_load(const std::vector<std::int64_t>& lines, QueueDma& dma) {
  buffer_.reserve(lines);
  DramPieces pieces;
  pieces.bits = lines_.bits();
  std::int64_t elements = 0;
  for (const std::int64_t line : lines) {
    lines_.add_pieces(line, pieces.pieces);
    elements += lines_.elements(line);
  }
  if (pieces.elements() != elements) throw std::logic_error("lines whose elements are not those of the plan");
  for (const ElementPiece& piece : pieces.pieces)
    std::fill_n(moved_.begin() + piece.first, piece.count, true);
  dma.issue_read(address_, pieces);
}

std::int64_t BlockOperandMemory::moved_bytes() const {
  return packed_bytes(std::count(moved_.begin(), moved_.end(), true), lines_.bits());
}

}  // namespace mantissa
