#include "sim/machine/block_operand_memory.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/compress/packed_line.hpp"
#include "models/format/packed.hpp"

namespace mantissa {

BlockOperandMemory::BlockOperandMemory(const BlockPlan& plan, GemmSide side, std::int64_t buffer_bytes,
                                       const std::string& key)
    : lines_(plan, side),
      keep_(plan, lines_, buffer_bytes, key),
      buffer_(lines_, buffer_bytes),
      expected_(lines_) {}

std::vector<std::uint8_t> BlockOperandMemory::image(const EncodedTensor& tensor) {
  const auto count = static_cast<std::int64_t>(tensor.size());
  moved_.assign(count, false);
  std::vector<std::uint8_t> packed(packed_bytes(count, lines_.bits()));
  for (std::int64_t i = 0; i < count; ++i) set_packed_element(packed, i, lines_.bits(), tensor.element(i));
  return packed;
}

// The host packs as the golden packer does.
std::vector<std::uint8_t> BlockOperandMemory::packed_image(const EncodedTensor& tensor) {
  const auto count = static_cast<std::int64_t>(tensor.size());
  const LineCode code = LineCode::of(tensor.type().format());
  const auto code_of = [&tensor](std::int64_t i) { return static_cast<std::uint8_t>(tensor.element(i)); };
  moved_.assign(count, false);
  nonzero_.resize(count);
  for (std::int64_t i = 0; i < count; ++i) nonzero_[i] = !code.is_zero(code_of(i));
  std::vector<std::uint8_t> image;
  std::vector<std::uint8_t> codes;
  for (std::int64_t line = 0; line < lines_.count(); ++line) {
    codes.clear();
    std::vector<ElementPiece> pieces;
    lines_.add_pieces(line, pieces);
    for (const ElementPiece& piece : pieces) {
      for (std::int64_t i = 0; i < piece.count; ++i) codes.push_back(code_of(piece.first + i));
    }
    const std::vector<std::uint8_t> packed = pack_line(codes, code);
    packed_lines_.push_back({std::ssize(image), std::ssize(packed)});
    image.insert(image.end(), packed.begin(), packed.end());
  }
  return image;
}

void BlockOperandMemory::lay(std::span<const std::uint8_t> image, std::int64_t address, Dma& dma) {
  address_ = address;
  dma.host_write(address, image);
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
  if (packed()) {
    pieces.bits = 8;
    pieces.pieces.clear();
    for (const std::int64_t line : lines)
      add_piece(pieces.pieces, packed_lines_[line].first, packed_lines_[line].count);
    unpacked_bytes_ += packed_bytes(elements, lines_.bits()) - pieces.elements();
  }
  dma.issue_read(address_, pieces);
}

std::vector<std::int64_t> BlockOperandMemory::line_elements(const std::vector<std::int64_t>& lines) const {
  std::vector<std::int64_t> elements;
  elements.reserve(lines.size());
  for (const std::int64_t line : lines) elements.push_back(lines_.elements(line));
  return elements;
}

std::int64_t BlockOperandMemory::moved_bytes() const {
  const auto moved = std::count(moved_.begin(), moved_.end(), true);
  if (!packed()) return packed_bytes(moved, lines_.bits());
  std::size_t nonzero = 0;
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    if (moved_[i] && nonzero_[i]) ++nonzero;
  }
  return static_cast<std::int64_t>(
      packed_line_bytes(static_cast<std::size_t>(moved), nonzero, lines_.bits()));
}

}  // namespace mantissa
