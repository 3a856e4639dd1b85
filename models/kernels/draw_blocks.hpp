// A plain tensor pass with random numbers, shared between threads: element i takes draw i / lanes of lane i
// mod lanes (ARITHMETIC.md 3).
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/kernels/aligned_buffer.hpp"
#include "models/kernels/draw_stream.hpp"
#include "models/parallel/parallel.hpp"
#include "models/random/stream.hpp"

namespace mantissa::kernels {

// Random numbers are made and used a block at a time, in the first-level cache: some 4096 elements, whole
// draws of every lane.
inline std::int64_t draw_block(const DrawSource& draws) {
  constexpr std::int64_t elements = 4096;
  const std::int64_t lanes = std::max(draws.lanes, 1);
  return (elements + lanes - 1) / lanes * lanes;
}

// Calls body(draws of the elements, first element, elements) for the blocks of [begin, end); begin is a
// multiple of draw_block().
template <class Body>
void for_draw_blocks(const DrawSource& draws, std::int64_t begin, std::int64_t end, const Body& body) {
  const std::int64_t block = draw_block(draws);
  DrawStream stream(draws, 0, draws.lanes);
  stream.seek(begin / draws.lanes);
  AlignedBuffer<std::uint32_t> random(block);
  for (std::int64_t i = begin; i < end; i += block) {
    stream.fill(random.span());
    body(random.data(), i, std::min(block, end - i));
  }
}

}  // namespace mantissa::kernels
