// The accelerator as a design point: array, skip window, buffers, DRAM, clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "models/sparsity/skip_window.hpp"

namespace mantissa {

// How operands move (ARITHMETIC.md 7). Only os_skip is modelled with memory; the others are conventions of
// other simulators in closed form.
enum class Dataflow : std::uint8_t { os_skip, scalesim_ws, scalesim_is, scalesim_os, stonne_os };
Dataflow parse_dataflow(std::string_view text);  // "os-skip", "scalesim-ws", ...
std::string_view name_of(Dataflow dataflow);

// How a pass is cut (ARITHMETIC.md 7): into tiles of the first machine, or into blocks of the second one,
// with sizes that are found for each pass or given for all.
enum class Mapping : std::uint8_t { simple, automatic, given };

// Whose blocks follow one another: block rows or block columns are the outer loop.
enum class BlockOrder : std::uint8_t { m_outside, n_outside };
std::string_view name_of(BlockOrder order);  // "m-outside", "n-outside"

// Where a batch norm's statistics are taken (ARITHMETIC.md 8): in sweeps of its own, or as results drain.
enum class NormFusion : std::uint8_t { none, drain };
std::string_view name_of(NormFusion fusion);  // "none", "drain"

// How gradients lie in DRAM (ARITHMETIC.md 13): all codes, or a mask and the non-zero ones.
enum class GradientStorage : std::uint8_t { dense, packed };
std::string_view name_of(GradientStorage storage);  // "dense", "packed"

struct BlockMapping {
  BlockOrder order = BlockOrder::m_outside;
  std::int64_t m_block = 0;  // rows
  std::int64_t n_block = 0;  // global columns
  std::int64_t k_block = 0;  // channels; lines in the weight gradient
  friend bool operator==(const BlockMapping&, const BlockMapping&) = default;
};

// The largest machine that can be modelled: no machine comes near it, and every product of the closed form
// stays within 64 bits.
struct ArchitectureLimits {
  static constexpr int side = 4096;     // rows, columns, norm_lanes
  static constexpr int window = 65535;  // and port: a count of non-zeros has 16 bits
  static constexpr int depth = 1024;
  static constexpr int pipe_latency = 1024;
  static constexpr std::int64_t buffer_bytes = std::int64_t{1} << 40;
  static constexpr std::int64_t dram_latency_cycles = 1 << 20;
  static constexpr int outstanding = 1024;  // transfers
  static constexpr std::int64_t dram_burst_bytes = 1 << 20;
  static constexpr std::int64_t dram_burst_cycles = 1 << 12;
  // Of a machine that is simulated cycle by cycle, and so takes memory for all that it has.
  static constexpr std::int64_t simulated_elements = 1 << 20;  // of the array
  static constexpr std::int64_t simulated_beat = 1 << 16;      // elements of A or B staged per cycle
  static constexpr std::int64_t simulated_staging = 1 << 24;   // elements of A or B in all staged windows
  static constexpr std::int64_t simulated_buffer = 1LL << 30;  // bytes
  static constexpr double min_clock_mhz = 0.001;
  static constexpr double max_clock_mhz = 1e6;
};

// A number of cycles that need not be whole.
struct Ratio {
  constexpr Ratio(std::int64_t whole) : numerator(whole) {}  // NOLINT: a number of cycles is one
  constexpr Ratio(std::int64_t n, std::int64_t d) : numerator(n), denominator(d) {}
  std::int64_t numerator;
  std::int64_t denominator = 1;
  constexpr double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  // Rounded up.
  constexpr std::int64_t times(std::int64_t count) const {
    const auto product = static_cast<__int128>(count) * numerator;
    return static_cast<std::int64_t>((product + denominator - 1) / denominator);
  }
};

struct Architecture {
  std::string name = "edge";
  Dataflow dataflow = Dataflow::os_skip;
  Mapping mapping = Mapping::simple;
  BlockMapping blocks;  // where it is given
  int rows = 16;
  int cols = 16;
  int window = 16;  // k per skip window
  int depth = 2;    // windows staged at a time
  int port = 4;     // k-slices staged per cycle
  bool skip_gradients = true;
  bool skip_forward = false;
  int pipe_latency = 2;
  bool acc_double_buffer = false;
  std::int64_t a_buffer_bytes = std::int64_t{64} * 1024;  // both halves together
  std::int64_t b_buffer_bytes = std::int64_t{64} * 1024;
  std::int64_t dram_latency_cycles = 40;
  std::int64_t dram_burst_bytes = 64;
  Ratio dram_burst_cycles = 8;
  // Of the second machine.
  std::int64_t c_buffer_bytes = std::int64_t{64} * 1024;
  int sum_rows = 1;              // rows of sums to and from C in a cycle, and drained
  int dram_outstanding = 4;      // transfers in flight
  int fp32_macs_per_cycle = 16;  // of layers with FP32 operands
  GradientStorage gradient_storage = GradientStorage::dense;
  NormFusion norm_fusion = NormFusion::none;
  int update_lanes = 0;  // of the pass that updates weights; 0: there is none
  int norm_lanes = 16;   // batch norm units side by side, one channel each
  double clock_mhz = 500;
  std::string energy = "horowitz45";  // name or path of the energy table

  // Throws std::invalid_argument that names the key that cannot be.
  void check() const;
  // The same for a machine that is more than a closed form.
  void check_simulated() const;
  bool in_blocks() const { return dataflow == Dataflow::os_skip && mapping != Mapping::simple; }
  SkipWindow skip_window(bool skip) const {
    return {.rows = rows, .window = window, .depth = depth, .port = port, .skip = skip};
  }
  // How long the data of a transfer takes, without the latency before it.
  std::int64_t data_cycles(std::int64_t bytes) const {
    return dram_burst_cycles.times((bytes + dram_burst_bytes - 1) / dram_burst_bytes);
  }
  // Cycles that the rows of a tile take to the buffer C.
  std::int64_t sum_cycles() const { return (rows + sum_rows - 1) / sum_rows; }
  // Multiply-accumulates per second if every element works in every cycle.
  double peak_macs_per_second() const { return clock_mhz * 1e6 * rows * cols; }
};

}  // namespace mantissa
