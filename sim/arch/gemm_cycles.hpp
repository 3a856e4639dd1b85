// What one GEMM costs on the accelerator, in closed form: the recurrences of ARITHMETIC.md 7. Zeros of A are
// counted beforehand; no element is visited here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/arch/architecture.hpp"

namespace mantissa {

// Larger GEMMs are refused: no cycle count may leave 64 bits, and nobody wants to wait.
constexpr std::int64_t max_gemm_size = std::int64_t{1} << 31;   // of m, n, k each
constexpr std::int64_t max_gemm_macs = std::int64_t{1} << 48;   // m * n * k
constexpr std::int64_t max_gemm_steps = std::int64_t{1} << 30;  // of a machine with memory

// C[m,n] = A[m,k] B[k,n] and how wide the elements are in memory.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  int a_bits = 8;
  int b_bits = 8;
  int c_bits = 8;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};

class TimelineRecorder;  // pass_timeline.hpp

struct GemmCycles {
  std::uint64_t compute = 0;
  std::uint64_t stall_load = 0;
  std::uint64_t stall_write_back = 0;
  std::uint64_t stall_drain = 0;
  std::uint64_t dram_bytes = 0;         // that the DMA moved
  std::uint64_t dram_bytes_unique = 0;  // sizes of A, B and C
  std::uint64_t tensor_bytes = 0;       // of the tensors, not lowered: what must be moved
  std::uint64_t sram_bytes = 0;
  std::uint64_t a_taken = 0;   // elements of A that rows in use took
  std::uint64_t b_staged = 0;  // elements of B written into the staging registers
  std::uint64_t drained = 0;   // elements of C
  // Of the second machine: sums that went from the accumulators to the buffer C, and back.
  std::uint64_t sums_stored = 0;
  std::uint64_t sums_loaded = 0;
  std::uint64_t macs = 0;     // executed
  std::uint64_t skipped = 0;  // macs + skipped = m * n * k
  std::uint64_t tiles = 0;
  std::uint64_t steps = 0;

  std::uint64_t cycles() const { return compute + stall_load + stall_write_back + stall_drain; }
  GemmCycles& operator+=(const GemmCycles& other);
  friend bool operator==(const GemmCycles&, const GemmCycles&) = default;
};

// Throws std::invalid_argument for sizes below 1 and above the limits.
void check_gemm_size(std::int64_t m, std::int64_t n, std::int64_t k);

// k per step of a tile (ARITHMETIC.md 7, "Steps"): k itself where a tile is one step. Throws
// std::invalid_argument where not even one window fits half a buffer.
std::int64_t step_length(const Architecture& arch, const GemmShape& shape);

// `nonzero` has one count per row of A and window of k, row-major; it is looked at only with `skip`, and may
// be empty without. Throws std::invalid_argument for what does not fit.
GemmCycles gemm_cycles(const Architecture& arch, const GemmShape& shape, bool skip,
                       std::span<const std::uint16_t> nonzero, TimelineRecorder* recorder = nullptr);

// Other simulators' conventions: compute cycles only.
struct FoldCycles {
  std::uint64_t cycles = 0;
  std::uint64_t folds = 0;
};
FoldCycles fold_cycles(Dataflow dataflow, int rows, int cols, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace mantissa
