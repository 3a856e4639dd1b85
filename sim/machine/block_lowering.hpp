// The way from the buffers to the array: the address generators are told of each run, and what they name is
// read from lines (ARITHMETIC.md 7, "Addresses").
#pragma once

#include <cstdint>

#include "models/mac/lowering_setup.hpp"
#include "sim/machine/block_memory.hpp"
#include "sim/machine/block_parts.hpp"
#include "sim/machine/block_tiles.hpp"

namespace mantissa {

struct LoweredBeat {
  int count = 0;  // of k
  bool last = false;
};

// Keeps references.
class BlockLowering {
 public:
  // `first` and `second` say what stands for the zeros of padding.
  BlockLowering(const BlockParts& parts, const BlockPlan& plan, const BlockMemory& memory,
                const EncodedTensor& first, const EncodedTensor& second);

  // A cycle begins, in which the array takes the beat or not. The set-up of a run is on offer long before.
  void drive(bool takes);
  // It ends. Throws UnitFailure if it did not go that way.
  void cycle(bool taken);

  // The beats that come are those of this run. Runs come in the order of the law.
  void begin(const BlockTile& tile, const TileRun& run);
  // What the units name in this cycle. Throws UnitFailure where they do not.
  LoweredBeat beat() const;
  // Element `slice` of the beat, for all rows or columns of the run: visit(index, element), indices from 0.
  // Throws UnitFailure for an element of no line.
  template <class Visit>
  void a_slice(int slice, const Visit& visit) const {
    for (int row = 0; row < rows_; ++row) visit(row, element(a_, parts_.lowering.a(), slice, row));
  }
  template <class Visit>
  void b_slice(int slice, const Visit& visit) const {
    for (int col = 0; col < columns_; ++col)
      visit(col, element(b_, parts_.lowering.b(), slice, first_lane_ + col));
  }

 private:
  struct Operand {
    const BlockOperandMemory& memory;
    std::uint16_t zero = 0;
    // Of the run: its lines begin with this one, and have so many elements.
    std::int64_t first = 0;
    std::int64_t elements = 0;
  };
  void offer_next();
  LoweredRun lowered(const BlockTile& tile, const TileRun& run) const;
  static void find_lines(Operand& operand, std::int64_t step, std::int64_t group);
  [[noreturn]] static void refuse(const LoweringUnit::Address& address);

  static std::uint32_t element(const Operand& operand, const LoweringSlot& unit, int slice, int lane) {
    const LoweringUnit::Address address = unit.address(slice, lane);
    if (!address.read) return operand.zero;
    if (address.line >= operand.memory.lines().operand().lines || address.element >= operand.elements)
      refuse(address);
    return operand.memory.buffer().line(operand.first + address.line)[address.element];
  }

  BlockParts parts_;
  const BlockPlan& plan_;
  Operand a_;
  Operand b_;
  BlockRuns next_;        // the run that is set up next
  bool offered_ = false;  // its set-up is on the units' inputs
  bool takes_ = false;    // a beat, in this cycle

  int rows_ = 0;  // of the run
  int columns_ = 0;
  int first_lane_ = 0;
};

}  // namespace mantissa
