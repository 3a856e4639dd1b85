// A tensor piece by piece, so that memory does not grow with it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/trace/safetensors.hpp"

namespace mantissa::trace {

inline constexpr std::uint64_t chunk_elements = std::uint64_t{1} << 14;

// visit(index of the first element, values as FP32)
template <class Visit>
void for_each_chunk(const Safetensors& file, const TensorInfo& tensor, const Visit& visit) {
  const std::uint64_t elements = tensor.elements();
  std::vector<float> buffer(std::min(elements, chunk_elements));
  for (std::uint64_t begin = 0; begin < elements; begin += chunk_elements) {
    const std::span<float> part = std::span(buffer).first(std::min(chunk_elements, elements - begin));
    file.values(tensor, begin, part);
    visit(begin, std::span<const float>(part));
  }
}

}  // namespace mantissa::trace
