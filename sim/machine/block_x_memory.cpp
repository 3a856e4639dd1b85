#include "sim/machine/block_x_memory.hpp"

#include "models/format/packed.hpp"

namespace mantissa {

BlockXMemory::BlockXMemory(const BlockPlan& plan, const BlockArrayJob& job)
    : plan_(plan), job_(job), bits_(plan.job().x_bits) {}

std::int64_t BlockXMemory::dram_bytes() const {
  return needed() ? packed_bytes(static_cast<std::int64_t>(job_.statistics.x.size()), bits_) : 0;
}

void BlockXMemory::lay(std::int64_t address, Dma& dma) {
  address_ = address;
  if (!needed()) return;
  std::vector<std::uint8_t> packed(dram_bytes());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(job_.statistics.x.size()); ++i)
    set_packed_element(packed, i, bits_, job_.statistics.x.element(i));
  dma.host_write(address, packed);
}

void BlockXMemory::issue_load(std::int64_t block, QueueDma& dma) {
  const Rectangle part = plan_.outputs(block);
  const ResultTensor tensor = results_of(job_);
  DramPieces pieces;
  pieces.bits = bits_;
  for (std::int64_t row = part.row0; row < part.row1; ++row) {
    for (std::int64_t col = part.col0; col < part.col1; ++col)
      add_piece(pieces.pieces, tensor.place(row, col), 1);
  }
  moved_ += part.elements();
  dma.issue_read(address_, pieces);
}

void BlockXMemory::end_load(std::int64_t block, const QueueDma& dma) {
  blocks_[block].assign(dma.data().begin(), dma.data().end());
}

std::uint32_t BlockXMemory::element(std::int64_t block, std::int64_t row, std::int64_t col) const {
  const Rectangle part = plan_.outputs(block);
  return packed_element(blocks_.at(block), (row - part.row0) * part.cols() + col - part.col0, bits_);
}

std::int64_t BlockXMemory::moved_bytes() const { return packed_bytes(moved_, bits_); }

}  // namespace mantissa
