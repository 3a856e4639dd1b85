// Asking early for what a kernel will stream from memory.
#pragma once

#include <cstdint>

namespace mantissa::kernels {

// One page ahead: hardware prefetchers stop at a page's end. That bounds a streaming kernel. The
// address may lie past the data; it is only a hint, and computed as a number because no such pointer may be
// formed.
// (Always inlined, or the optimizer takes a function without effect for no function at all.)
[[gnu::always_inline]] inline void prefetch_next_page(const float* here) {
  const std::uintptr_t ahead = reinterpret_cast<std::uintptr_t>(here) + 4096;
  __builtin_prefetch(reinterpret_cast<const void*>(ahead));  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace mantissa::kernels
