// Conventions of SCALE-Sim and STONNE (ARITHMETIC.md 7, "Other dataflows").
#include <array>
#include <stdexcept>

#include "sim/arch/gemm_cycles.hpp"

namespace mantissa {
namespace {

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

FoldCycles stonne_os(std::uint64_t rows, std::uint64_t cols, std::uint64_t m, std::uint64_t n,
                     std::uint64_t k) {
  // How many folds use this many of `size` lines: the full ones, and the one with the rest.
  struct Part {
    std::uint64_t folds;
    std::uint64_t used;
  };
  const auto parts = [](std::uint64_t length, std::uint64_t size) {
    return std::array{Part{length / size, size}, Part{length % size == 0 ? 0U : 1U, length % size}};
  };
  FoldCycles total;
  for (const auto& [row_folds, r] : parts(m, rows)) {
    for (const auto& [col_folds, c] : parts(n, cols)) {
      const std::uint64_t cycles = k + r + c + 3 - (r == 1 || c == 1 ? 1 : 0);
      total.folds += row_folds * col_folds;
      total.cycles += row_folds * col_folds * cycles;
    }
  }
  return total;
}

}  // namespace

FoldCycles fold_cycles(Dataflow dataflow, int rows, int cols, std::int64_t m, std::int64_t n,
                       std::int64_t k) {
  Architecture array;
  array.rows = rows;
  array.cols = cols;
  array.check();
  check_gemm_size(m, n, k);
  const auto r = static_cast<std::uint64_t>(rows);
  const auto c = static_cast<std::uint64_t>(cols);
  const auto um = static_cast<std::uint64_t>(m);
  const auto un = static_cast<std::uint64_t>(n);
  const auto uk = static_cast<std::uint64_t>(k);
  const auto folded = [](std::uint64_t fold, std::uint64_t folds) { return FoldCycles{fold * folds, folds}; };
  switch (dataflow) {
    case Dataflow::scalesim_ws:
      return folded(2 * r + c + um - 2, ceil_div(uk, r) * ceil_div(un, c));
    case Dataflow::scalesim_is:
      return folded(2 * r + c + un - 2, ceil_div(uk, r) * ceil_div(um, c));
    case Dataflow::scalesim_os:
      return folded(r + c + uk - 2, ceil_div(um, r) * ceil_div(un, c));
    case Dataflow::stonne_os:
      return stonne_os(r, c, um, un, uk);
    case Dataflow::os_skip:
      break;
  }
  throw std::invalid_argument("os-skip has no folds: its cycles depend on zeros and memory");
}

}  // namespace mantissa
