// Conventions of other simulators: the figures of ARITHMETIC.md 7, and STONNE's sum fold by fold.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {
namespace {

TEST(FoldCycles, Of256Cubed) {
  const auto cycles = [](Dataflow dataflow) { return fold_cycles(dataflow, 32, 32, 256, 256, 256).cycles; };
  EXPECT_EQ(cycles(Dataflow::scalesim_ws), 22400U);
  EXPECT_EQ(cycles(Dataflow::scalesim_is), 22400U);
  EXPECT_EQ(cycles(Dataflow::scalesim_os), 20352U);
  EXPECT_EQ(cycles(Dataflow::stonne_os), 20672U);
}

TEST(FoldCycles, StonneFoldByFold) {
  std::mt19937_64 engine(3);
  for (int i = 0; i < 500; ++i) {
    const auto size = [&](unsigned max) { return static_cast<int>(1 + engine() % max); };
    const int rows = size(9);
    const int cols = size(9);
    const int m = size(40);
    const int n = size(40);
    const int k = size(100);
    std::uint64_t cycles = 0;
    std::uint64_t folds = 0;
    for (int row = 0; row < m; row += rows) {
      for (int col = 0; col < n; col += cols, ++folds) {
        const int r = std::min(rows, m - row);
        const int c = std::min(cols, n - col);
        cycles += static_cast<std::uint64_t>(k + r + c + 3);
        if (r == 1 || c == 1) --cycles;
      }
    }
    const FoldCycles closed = fold_cycles(Dataflow::stonne_os, rows, cols, m, n, k);
    EXPECT_EQ(closed.cycles, cycles) << rows << "x" << cols << " " << m << "," << n << "," << k;
    EXPECT_EQ(closed.folds, folds);
  }
}

TEST(FoldCycles, LargestStayWithin64Bits) {
  // K folds of a 1 x 4096 array: 2^31 times (2 + 4096 + 2^17 - 2).
  EXPECT_EQ(fold_cycles(Dataflow::scalesim_ws, 1, 4096, 1 << 17, 1, max_gemm_size).cycles,
            (std::uint64_t{1} << 31) * ((1 << 17) + 4096));
  EXPECT_EQ(fold_cycles(Dataflow::stonne_os, 1, 1, 1 << 17, max_gemm_size, 1).cycles,
            (std::uint64_t{1} << 48) * 5);
}

TEST(FoldCycles, RefusesWhatHasNoFolds) {
  EXPECT_THROW(fold_cycles(Dataflow::os_skip, 4, 4, 8, 8, 8), std::invalid_argument);
  EXPECT_THROW(fold_cycles(Dataflow::scalesim_ws, 0, 4, 8, 8, 8), std::invalid_argument);
  EXPECT_THROW(fold_cycles(Dataflow::scalesim_ws, 4, 4, 8, 0, 8), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
