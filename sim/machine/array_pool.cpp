#include "sim/machine/array_pool.hpp"

#include <algorithm>

namespace mantissa {
namespace {

auto with_formats(const ArrayFormats& formats) {
  return [&formats](const std::unique_ptr<Accelerator>& each) { return each->formats() == formats; };
}

}  // namespace

ArrayPool::ArrayPool(const Architecture& arch, std::span<const ArrayFormats> formats,
                     const AcceleratorOptions& options) {
  arch.check_simulated();
  for (const ArrayFormats& each : formats) {
    if (std::none_of(accelerators_.begin(), accelerators_.end(), with_formats(each)))
      accelerators_.push_back(std::make_unique<Accelerator>(arch, each, options));
  }
}

ArrayRun ArrayPool::run(const ArrayFormats& formats, const ArrayJob& job) {
  const auto found = std::find_if(accelerators_.begin(), accelerators_.end(), with_formats(formats));
  if (found == accelerators_.end()) {
    throw std::invalid_argument("no array was built for these formats: " + formats.a.name() + " x " +
                                formats.b.name() + " to " + formats.c.name());
  }
  return (*found)->run(job);
}

}  // namespace mantissa
