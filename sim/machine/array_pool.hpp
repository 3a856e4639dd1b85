// The accelerators of a replay: one per set of formats, all built before the first GEMM, as SystemC and
// compiled RTL want it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sim/machine/accelerator.hpp"

namespace mantissa {

class ArrayPool {
 public:
  // One accelerator per different element of `formats`. Throws what Accelerator throws.
  ArrayPool(const Architecture& arch, std::span<const ArrayFormats> formats,
            const AcceleratorOptions& options = {});

  // Throws std::invalid_argument for formats that the pool was not made for, and what Accelerator::run
  // throws.
  ArrayRun run(const ArrayFormats& formats, const ArrayJob& job);

 private:
  std::vector<std::unique_ptr<Accelerator>> accelerators_;
};

}  // namespace mantissa
