// Any bytes as a trace: they are either refused with std::invalid_argument or every part of them can be read.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/trace/finite.hpp"
#include "sim/trace/statistics.hpp"
#include "sim/trace/trace.hpp"

namespace {

using namespace mantissa::trace;  // NOLINT: this file has no other subject

// What a reader of a valid file relies on.
void require(bool condition) {
  if (!condition) std::abort();
}

void read_all(const Safetensors& file) {
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    require(tensor.begin == end && file.find(tensor.name) == &tensor);
    end = tensor.end;
    const std::vector<float> values = file.values(tensor);
    require(values.size() == tensor.elements());
    require(tensor.end - tensor.begin == values.size() * static_cast<std::size_t>(bytes_of(tensor.dtype)));
    const Statistics statistics = statistics_of(file, tensor);
    require(std::isfinite(statistics.mean) && statistics.deviation >= 0);
  }
}

void read_all(const Trace& trace) {
  std::size_t found = 0;
  for (const std::uint32_t step : trace.steps()) {
    for (const Layer& layer : trace.layers()) {
      for (int role = 0; role < role_count; ++role)
        found += trace.find(step, layer, static_cast<Role>(role)) != nullptr ? 1 : 0;
    }
  }
  require(found == trace.file().tensors().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  try {
    const Safetensors file(bytes, "fuzz");
    read_all(file);
  } catch (const std::invalid_argument&) {
    return 0;
  }
  try {
    const Trace trace(Safetensors(bytes, "fuzz"));
    read_all(trace);
    check_finite(trace);
  } catch (const std::invalid_argument&) {
    // refused
  }
  return 0;
}
