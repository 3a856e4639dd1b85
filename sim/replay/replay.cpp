#include "sim/replay/replay.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <stdexcept>

#include "models/parallel/parallel.hpp"
#include "sim/replay/buffer_check.hpp"
#include "sim/replay/layer_replay.hpp"
#include "sim/replay/norm_fusion.hpp"
#include "sim/replay/report_notes.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::replay {
namespace {

std::vector<std::uint32_t> chosen_steps(const trace::Trace& trace, const Options& options) {
  for (const std::uint32_t step : options.steps) {
    if (std::binary_search(trace.steps().begin(), trace.steps().end(), step)) continue;
    std::string known;
    for (const std::uint32_t each : trace.steps()) known += " " + std::to_string(each);
    throw std::invalid_argument(trace.path().string() + ": there is no step " + std::to_string(step) +
                                "; the trace has" + known);
  }
  if (options.steps.empty()) return trace.steps();
  std::vector<std::uint32_t> steps = options.steps;
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  return steps;
}

void check_timeline(const trace::Trace& trace, const Options& options) {
  if (options.timeline.empty()) return;
  std::string known;
  for (const trace::Layer& layer : trace.layers()) {
    if (!multiplies(layer.kind)) continue;
    if (layer.name == options.timeline) return;
    known += (known.empty() ? "" : ", ") + layer.name;
  }
  throw std::invalid_argument(trace.path().string() + ": there is no layer " + in_quotes(options.timeline) +
                              " with products for a timeline; allowed: " + known);
}

std::int64_t images_of(const trace::Trace& trace, std::uint32_t step) {
  for (const trace::Layer& layer : trace.layers()) {
    if (trace.find(step, layer, Role::input) == nullptr) continue;
    const std::vector<std::int64_t>& shape = trace.shape(step, layer, Role::input);
    return shape.size() > 1 ? shape[0] : 1;  // a linear layer may read one sample without a batch
  }
  return 0;
}

// The units are as many and as long as the largest layers want them.
void add_norm(const NormShape& shape, std::optional<NormSize>& needed) {
  NormSize size = needed.value_or(NormSize{});
  size.channels = std::max(size.channels, shape.channels);
  size.elements = std::max(size.elements, shape.per_channel());
  needed = size;
}

// Elements that may be in memory for every thread.
constexpr std::uint64_t small_trace = std::uint64_t{1} << 22;

std::uint64_t elements_of(const trace::Trace& trace) {
  std::uint64_t elements = 0;
  for (const trace::TensorInfo& tensor : trace.file().tensors()) elements += tensor.elements();
  return elements;
}

// What all layers did besides what is in the report.
struct Merged {
  ActionCounts actions;
  StagingTable staging;
};

template <class T>
void append(std::vector<T>& all, std::vector<T>& more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

void keep_longer(std::optional<TimelineReport>& longest, std::optional<TimelineReport>& other) {
  if (other && (!longest || other->cost.cycles() > longest->cost.cycles())) longest = std::move(other);
}

// Of a small trace layers run side by side, since its hundreds of short loops are not worth sharing; of a
// large one they run one after the other with all threads in each, since the tensors of one layer are enough
// memory.
Merged run_layers(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                  CrossCheck* check, const Options& options, const Progress& progress, double largest_layer,
                  std::vector<PlannedLayer>& layers, ReplayReport& report) {
  const double side_by_side_gib = options.threads * largest_layer / (1024.0 * 1024 * 1024);
  const bool side_by_side =
      check == nullptr && elements_of(trace) <= small_trace && side_by_side_gib <= options.limits.memory_gib;
  Options in_layer = options;
  if (side_by_side) in_layer.threads = 1;
  struct Part {
    ReplayReport report;
    Merged merged;
  };
  std::map<std::int64_t, Part> parts;  // by their first layer
  std::mutex sharing;
  std::size_t done = 0;
  parallel_ranges(std::ssize(layers), 1, side_by_side ? options.threads : 1,
                  [&](std::int64_t begin, std::int64_t end) {
                    Part part{.report = {}, .merged = {{}, StagingTable(arch)}};
                    part.report.seed = report.seed;
                    part.report.tables = report.tables;
                    LayerReplay replay(trace, recipe, arch, in_layer, check, part.report);
                    for (std::int64_t i = begin; i < end; ++i) {
                      if (progress) {
                        const std::lock_guard lock(sharing);
                        progress(done++, layers.size(),
                                 "step " + std::to_string(layers[i].step) + " " + layers[i].layer->name);
                      }
                      replay.run(layers[i]);
                    }
                    part.merged = {replay.actions(), replay.staging()};
                    const std::lock_guard lock(sharing);
                    parts.emplace(begin, std::move(part));
                  });
  Merged merged{{}, StagingTable(arch)};
  for (auto& [first, part] : parts) {
    append(report.passes, part.report.passes);
    append(report.tensors, part.report.tensors);
    append(report.gradients, part.report.gradients);
    append(report.notes, part.report.notes);
    report.run_bits.compared += part.report.run_bits.compared;
    report.run_bits.different += part.report.run_bits.different;
    keep_longer(report.timeline, part.report.timeline);
    add(merged.actions, part.merged.actions);
    merged.staging += part.merged.staging;
  }
  return merged;
}

}  // namespace

ReplayReport replay(const trace::Trace& trace, const Recipe& recipe, const Architecture& arch,
                    const std::vector<EnergyTable>& tables, CrossCheck* check, const Options& options,
                    const Progress& progress) {
  recipe.check();
  arch.check();
  ReplayReport report;
  report.recipe = recipe.name;
  report.arch = arch.name;
  report.rows = arch.rows;
  report.cols = arch.cols;
  report.clock_mhz = arch.clock_mhz;
  report.peak_bytes_per_cycle = static_cast<double>(arch.dram_burst_bytes) / arch.dram_burst_cycles.value();
  report.tables = tables;
  report.seed = trace.run() && trace.run()->run_seed ? *trace.run()->run_seed : options.seed;
  note_inputs(trace, recipe, arch, options, report);

  check_timeline(trace, options);
  const std::vector<std::uint32_t> steps = chosen_steps(trace, options);
  const double largest_layer = check_size(trace, steps, options.limits);
  std::vector<PlannedLayer> layers;  // of all steps
  MachineNeeds needs;
  bool in_parts = false;  // a batch norm's sums
  BufferCheck buffers(trace, recipe, arch);
  for (const std::uint32_t step : steps) {
    std::vector<PlannedLayer> planned_step = plan_step(trace, step, recipe);
    fuse_norms(trace, arch, planned_step);
    for (PlannedLayer& planned : planned_step) {
      buffers.look(planned);
      for (const ArrayFormats& array : arrays_of(planned.plan)) {
        if (std::find(needs.arrays.begin(), needs.arrays.end(), array) == needs.arrays.end())
          needs.arrays.push_back(array);
      }
      if (const std::optional<NormShape> norm = norm_shape_of(trace, step, *planned.layer)) {
        if (recipe.norm.kind == NormRule::Kind::range) add_norm(*norm, needs.norm);
        const bool parts = planned.plan.norm(norm->per_channel()).parts > 1;
        in_parts = in_parts || parts;
        if (planned.fused.forward || planned.fused.backward) {
          add_norm(*norm, needs.drained);
          needs.drained_parts = needs.drained_parts || parts;
        }
      }
      layers.push_back(std::move(planned));
    }
    report.steps.push_back({step, images_of(trace, step)});
  }
  buffers.finish();
  if (check != nullptr) check->prepare(recipe, arch, needs);
  if (check != nullptr && in_parts) note_parts(report);

  Merged merged = run_layers(trace, recipe, arch, check, options, progress, largest_layer, layers, report);
  if (report.passes.empty()) {
    throw std::invalid_argument(trace.path().string() + ": no pass can be run; " +
                                (report.notes.empty() ? "it has no layers" : report.notes.back()));
  }
  warn_of_results(report);
  // With the prices that rules gave for this recipe's formats.
  for (EnergyTable& table : report.tables) table = priced_for(table, merged.actions);
  if (options.staging) report.staging = merged.staging.points();
  report.sampled_tiles = check == nullptr ? 0 : check->tiles_run();
  return report;
}

}  // namespace mantissa::replay
