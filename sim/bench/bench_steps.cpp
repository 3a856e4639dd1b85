#include "sim/bench/bench_steps.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "models/random/stream.hpp"
#include "sim/arch/architecture_yaml.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/replay/replay.hpp"
#include "sim/trace/layer_geometry.hpp"
#include "sim/trace/synthetic.hpp"

namespace mantissa::bench {
namespace {

constexpr std::int64_t images = 4;
constexpr double zeros = 0.85;

// A file that is there while this lives.
class ScratchTrace {
 public:
  explicit ScratchTrace(const BenchSettings& settings)
      : path_(std::filesystem::temp_directory_path() /
              ("mantissa_bench_" + std::to_string(::getpid()) + ".safetensors")) {
    trace::SyntheticJob job;
    job.path = path_;
    job.network = trace::resnet18(images, settings.image, settings.image);
    job.numbers.gradient_sparsity = zeros;
    job.numbers.seed = settings.seed;
    trace::write_synthetic(job);
  }
  ~ScratchTrace() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  ScratchTrace(const ScratchTrace&) = delete;
  ScratchTrace& operator=(const ScratchTrace&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A pass, and how many elements of A are not zero where skipping asks.
struct CountedJob {
  BlockJob job;
  BlockCounts nonzero;
};

BlockCounts random_counts(const BlockJob& job, int window, std::uint64_t& word) {
  BlockCounts counts;
  const ConvShape& g = job.shape;
  for (const PassPhase& phase : phases_of(g, job.pass)) {
    const bool weights = job.pass == Pass::weight_gradient;
    const std::int64_t rows = weights ? g.out_group() : g.batch * phase.rows_per_image();
    const std::int64_t k = weights ? g.batch * g.out[0] * g.out[1] : g.out_group() * phase.taps_in_all();
    std::vector<std::uint16_t>& of = counts.emplace_back();
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t first = 0; first < k; first += window) {
        std::uint16_t nonzero = 0;
        for (std::int64_t i = first; i < std::min(k, first + window); ++i)
          if (static_cast<double>(mix(++word) >> 11) * 0x1p-53 >= zeros) ++nonzero;
        of.push_back(nonzero);
      }
    }
  }
  return counts;
}

std::vector<CountedJob> jobs_of(const trace::Network& network, const Architecture& arch, std::uint64_t seed) {
  std::vector<CountedJob> jobs;
  std::uint64_t word = seed;
  for (const trace::NetworkLayer& layer : network) {
    if (!multiplies(layer.layer.kind)) continue;
    const ConvShape shape = trace::geometry_of(layer.layer, layer.input, layer.weight);
    for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) {
      if (pass == Pass::input_gradient && !layer.layer.input_gradient) continue;
      const PassSides sides = sides_of(shape, pass);
      CountedJob each{{.shape = shape, .pass = pass, .outputs = {0, sides.m, 0, sides.n}}, {}};
      each.job.skip = pass != Pass::forward;
      if (each.job.skip) each.nonzero = random_counts(each.job, arch.window, word);
      jobs.push_back(std::move(each));
    }
  }
  return jobs;
}

// As a replay does: with skipping and, for its speed-up, without.
void map_all(const Architecture& arch, const std::vector<CountedJob>& jobs) {
  for (const CountedJob& each : jobs) {
    mapped_cost(arch, each.job, each.nonzero);
    if (!each.job.skip) continue;
    BlockJob dense = each.job;
    dense.skip = false;
    mapped_cost(arch, dense, {});
  }
}

BenchTask closed_form(const BenchSettings& settings) {
  const std::string name = "closed form, ResNet-18 step, edge";
  return {name, [name, settings] {
            const Architecture arch = load_architecture("edge", {{"mapping", "auto"}}).value;
            const std::vector<CountedJob> jobs =
                jobs_of(trace::resnet18(images, settings.image, settings.image), arch, settings.seed);
            const Best best = best_of(
                settings.repeat, [&] { map_all(arch, jobs); }, [] {});
            return BenchRow{name, "steps/s", "half a second", "-", 1 / best.ours, 2, 1.0};
          }};
}

BenchTask whole_replay(const BenchSettings& settings) {
  const std::string name = "replay, ResNet-18 step, two threads";
  return {name, [name, settings] {
            const ScratchTrace file(settings);
            const trace::Trace trace(file.path());
            const Recipe recipe = load_recipe("fp8").value;
            const Architecture arch = load_architecture("edge", {{"mapping", "auto"}}).value;
            const std::vector<EnergyTable> tables = {load_energy_table(arch.energy).value};
            replay::Options options;
            options.threads = 2;
            options.limits.memory_gib = 2;
            const Best best = best_of(
                settings.repeat, [&] { replay::replay(trace, recipe, arch, tables, nullptr, options, {}); },
                [] {});
            double macs = 0;
            for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient})
              macs += trace::macs_of(trace, pass);
            // The best that was measured on such a machine; it has no values.
            constexpr double scalesim = 0.0058;
            constexpr double wanted = 4;
            return BenchRow{name,     "GMAC/s",         "SCALE-Sim (published)", "-", macs / best.ours * 1e-9,
                            scalesim, wanted / scalesim};
          }};
}

}  // namespace

std::vector<BenchTask> step_tasks(const BenchSettings& settings) {
  return {closed_form(settings), whole_replay(settings)};
}

}  // namespace mantissa::bench
