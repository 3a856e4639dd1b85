// All that a replay found, as plain data: what the reports (JSON, CSV, HTML, tables) are made of.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "models/mac/pass.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/pass_timeline.hpp"
#include "sim/arch/staging.hpp"
#include "sim/energy/energy_table.hpp"
#include "sim/support/config_file.hpp"
#include "sim/trace/gradient.hpp"
#include "sim/trace/trace.hpp"

namespace mantissa {

// A result against the same operation in FP64 on the trace's own numbers.
struct Accuracy {
  std::uint64_t elements = 0;
  double sqnr_db = 0;  // +Inf: no difference; NaN: the reference is zero, or a result is not finite
  double cosine = 0;
  double max_ulp = 0;           // largest difference in units of the output format's spacing at the reference
  double bias = 0;              // mean difference over mean magnitude
  std::uint64_t nonfinite = 0;  // results that are Inf or NaN: the figures above are then NaN
  std::uint64_t overflow = 0;   // of the quantizer that made the result
  std::uint64_t underflow = 0;
  std::uint64_t flushed_to_zero = 0;
};

// The sums of a product before bias and drain, against FP64 on the operands as the array had them.
struct AccumulatorError {
  std::uint64_t elements = 0;  // results that were looked at: all of a small product, else some rows
  double sqnr_db = std::numeric_limits<double>::quiet_NaN();  // as in Accuracy; NaN: there are no sums
};

// One pass of one layer at one step.
struct PassReport {
  std::uint32_t step = 0;
  std::string layer;
  trace::LayerKind kind = trace::LayerKind::linear;
  Pass pass = Pass::forward;
  GemmShape gemm;  // of one group; batch norms: m channels, n = 1, k elements per channel
  std::int64_t groups = 1;
  std::string formats;  // "e5m2 x e5m2 -> fp32 rne -> e5m2 sr:16"
  GemmCycles cost;
  std::uint64_t dense_cycles = 0;  // of the same pass with skipping off
  std::uint64_t scheduled_macs = 0;
  std::string mapping;  // "m-outside 64 x 32 x 128, ..."; empty: it was not cut into blocks
  std::uint64_t suppressed = 0;
  double operand_sparsity = 0;  // share of zeros in A
  double utilization = 0;       // executed MACs over rows * cols * cycles
  std::vector<Energy> energy;   // one per table
  Accuracy accuracy;
  AccumulatorError accumulator;
};

// One tensor on its way into the array.
struct TensorReport {
  std::uint32_t step = 0;
  std::string layer;
  std::string tensor_class;  // weights, activations, errors, weight_gradients
  std::string format;
  int scale = 0;             // exponent
  double zero_share = 0;     // after pruning and quantizing
  double zero_share_in = 0;  // as recorded
  Accuracy accuracy;         // of the quantized tensor against the recorded one
};

// Results of a trace that was recorded in a run of the same recipe, beside what the run had.
struct RunBits {
  std::uint64_t compared = 0;
  std::uint64_t different = 0;
};

// A recorded step, and the samples that it trained on.
struct ReportedStep {
  std::uint32_t number = 0;
  std::int64_t images = 0;
};

// What one pass did with its time.
struct TimelineReport {
  std::uint32_t step = 0;
  std::string layer;
  Pass pass = Pass::forward;
  std::string mapping;
  GemmCycles cost;
  PassTimeline timeline;
};

struct ReplayReport {
  std::string version;
  std::uint64_t seed = 1;
  std::string engine;
  std::string trace;  // file name
  std::string trace_hash;
  std::string recipe;
  std::string recipe_hash;
  std::vector<Setting> recipe_keys;  // every key that counts, with its value, also those left to defaults
  std::string arch;
  std::string arch_hash;
  std::vector<Setting> arch_keys;
  std::vector<std::string> settings;  // keys of recipe and architecture that the command line set: "rows=8"
  int rows = 0;
  int cols = 0;
  double clock_mhz = 0;
  double peak_bytes_per_cycle = 0;  // DRAM: burst bytes / burst cycles
  std::vector<ReportedStep> steps;  // in order
  std::uint64_t sampled_tiles = 0;  // that a machine checked (of norms, groups of channels); 0: all
  std::vector<EnergyTable> tables;  // the architecture's first
  std::vector<PassReport> passes;   // in order: step, layer, pass
  std::vector<TensorReport> tensors;
  std::vector<GradientReport> gradients;
  std::vector<StagingPoint> staging;  // of other depths and ports, without memory
  std::optional<TimelineReport> timeline;
  RunBits run_bits;
  std::vector<std::string> warnings;  // without which the figures would mislead: they come first
  std::vector<std::string> notes;     // what else a reader must know: skipped layers, missing tensors
};

inline std::int64_t images_of(const ReplayReport& report) {
  std::int64_t images = 0;
  for (const ReportedStep& step : report.steps) images += step.images;
  return images;
}

}  // namespace mantissa
