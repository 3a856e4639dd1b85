// What the parts of the controller of blocks work with: the machine around the array.
#pragma once

#include "sim/machine/block_array_job.hpp"
#include "sim/machine/block_array_slot.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/queue_dma.hpp"
#include "sim/machine/unit_lanes.hpp"

namespace mantissa {

struct BlockParts {
  const Architecture& arch;
  const ArrayFormats& formats;
  BlockArraySlot& array;
  QueueDma& dma;
  Dram& dram;
  UnitLanes& statistics;  // behind the drain; there may be none
};

}  // namespace mantissa
