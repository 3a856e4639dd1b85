// Buffer C of the second machine: one block of sums or two, in the accumulator's format; once drained, codes
// are in the places of the sums (ARITHMETIC.md 7, "Drain").
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/arch/block_plan.hpp"

namespace mantissa {

// Keeps a reference. Rows and columns are those of the pass.
class BlockSumBuffer {
 public:
  // Throws std::invalid_argument where not even one block fits.
  BlockSumBuffer(const Architecture& arch, const BlockPlan& plan);

  bool two_blocks() const { return blocks_ == 2; }
  bool has_room(std::int64_t block) const { return places_[place_of(block)].block == none; }
  // The block whose place this one takes; negative: none had it.
  std::int64_t in_place_of(std::int64_t block) const { return block - blocks_; }

  // What follows throws std::logic_error for what is not there, or what is in the way.
  void open(std::int64_t block);
  void put(std::int64_t block, std::int64_t row, std::int64_t col, std::uint64_t sum);
  std::uint64_t sum(std::int64_t block, std::int64_t row, std::int64_t col) const;
  // All sums are in it. Rows that no phase computes are +0.
  void complete(std::int64_t block);
  bool is_complete(std::int64_t block) const;
  // Sum or code, of a complete block.
  std::uint64_t word(std::int64_t block, std::int64_t row, std::int64_t col) const;
  void put_code(std::int64_t block, std::int64_t row, std::int64_t col, std::uint32_t code);
  void close(std::int64_t block);  // it has been written back

 private:
  static constexpr std::int64_t none = -1;
  struct Place {
    std::int64_t block = none;
    Rectangle outputs = {};
    bool complete = false;
    std::vector<std::uint64_t> words;
    std::vector<bool> stored;
  };
  std::size_t place_of(std::int64_t block) const { return static_cast<std::size_t>(block % blocks_); }
  const Place& held(std::int64_t block) const;
  Place& held(std::int64_t block) { return const_cast<Place&>(std::as_const(*this).held(block)); }
  static std::size_t index(const Place& place, std::int64_t row, std::int64_t col);

  const BlockPlan& plan_;
  std::int64_t blocks_ = 1;  // that it holds
  std::array<Place, 2> places_;
};

}  // namespace mantissa
