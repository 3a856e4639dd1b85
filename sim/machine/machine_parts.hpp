// What the parts of the controller of GEMMs work with: the machine around the array.
#pragma once

#include "sim/machine/array_job.hpp"
#include "sim/machine/array_slot.hpp"
#include "sim/machine/dma.hpp"
#include "sim/machine/dram.hpp"
#include "sim/machine/sram_buffer.hpp"

namespace mantissa {

struct MachineParts {
  const Architecture& arch;
  const ArrayFormats& formats;
  ArraySlot& array;
  Dma& dma;
  Dram& dram;
  SramBuffer& a;
  SramBuffer& b;
  SramBuffer& c;
};

}  // namespace mantissa
