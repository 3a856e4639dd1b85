// A tensor shared between threads, each with a rounder of its own.
#pragma once

#include <mutex>

#include "models/kernels/draw_blocks.hpp"
#include "models/kernels/run_rounder.hpp"
#include "models/parallel/parallel.hpp"
#include "models/quantize/quantizer.hpp"
#include "models/quantize/rounding_draws.hpp"

namespace mantissa::kernels {

// body(rounder, begin, end) on ranges of [0, count). What was met is added to `counts` where it is asked for.
template <class Out, class Body>
void with_rounders(std::int64_t count, std::int64_t grain, int threads, const Conversion& how,
                   ConversionCounts* counts, const Body& body) {
  std::mutex merge;
  parallel_ranges(count, grain, threads, [&](std::int64_t begin, std::int64_t end) {
    RunRounder<Out> rounder(how, counts != nullptr);
    body(rounder, begin, end);
    if (counts == nullptr) return;
    const std::lock_guard lock(merge);
    *counts += rounder.counts();
  });
}

// A plain tensor pass: element i takes draw i / lanes of lane i mod lanes.
template <class Out>
void round_tensor(std::span<const float> values, const Conversion& how, const DrawSource& draws,
                  std::span<Out> out, int threads, ConversionCounts* counts) {
  check_quantizer(how, 8 * sizeof(Out), values.size(), out.size());
  const RoundingDraws checked(how.rounding, draws);  // refuses what the scalar model refuses
  const bool random = how.rounding.stochastic();
  with_rounders<Out>(
      static_cast<std::int64_t>(values.size()), random ? draw_block(draws) : worth_a_thread, threads, how,
      counts, [&](RunRounder<Out>& rounder, std::int64_t begin, std::int64_t end) {
        if (!random) {
          rounder(values.data() + begin, nullptr, out.data() + begin, end - begin);
          return;
        }
        for_draw_blocks(draws, begin, end,
                        [&](const std::uint32_t* draw, std::int64_t first, std::int64_t count) {
                          rounder(values.data() + first, draw, out.data() + first, count);
                        });
      });
}

}  // namespace mantissa::kernels
