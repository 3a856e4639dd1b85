// A transfer of elements that do not lie together in DRAM: pieces of one tensor, moved one after the other
// without gaps. It goes with a transaction whose address is the tensor's.
#pragma once

#include <cstdint>
#include <tlm>
#include <vector>

namespace mantissa {

struct ElementPiece {
  std::int64_t first = 0;  // element of the tensor
  std::int64_t count = 0;
};

// Adds a piece behind others; what lies together becomes one.
inline void add_piece(std::vector<ElementPiece>& pieces, std::int64_t first, std::int64_t count) {
  if (!pieces.empty() && pieces.back().first + pieces.back().count == first) {
    pieces.back().count += count;
  } else {
    pieces.push_back({first, count});
  }
}

struct DramPieces : public tlm::tlm_extension<DramPieces> {
  int bits = 8;  // of an element
  std::vector<ElementPiece> pieces;

  std::int64_t elements() const {
    std::int64_t all = 0;
    for (const ElementPiece& piece : pieces) all += piece.count;
    return all;
  }
  tlm::tlm_extension_base* clone() const override { return new DramPieces(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const DramPieces&>(other);
  }
};

}  // namespace mantissa
