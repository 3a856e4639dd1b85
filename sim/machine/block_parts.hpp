// What the parts of the controller of blocks work with: the machine around the array.
#pragma once

#include "sim/machine/block_array_job.hpp"
#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/line_unpacker.hpp"
#include "sim/machine/lowering_slots.hpp"
#include "sim/machine/queue_dma.hpp"
#include "sim/machine/unit_lanes.hpp"

namespace mantissa {

struct BlockParts {
  const Architecture& arch;
  const ArrayFormats& formats;
  BlockArraySlot& array;
  LoweringSlots& lowering;
  QueueDma& dma;
  Dram& dram;
  LineUnpacker* unpacker;  // nullptr: the machine has none
  UnitLanes& statistics;   // behind the drain; there may be none
};

}  // namespace mantissa
