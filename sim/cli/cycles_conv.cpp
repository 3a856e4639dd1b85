#include "sim/cli/cycles_conv.hpp"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "models/tensor/lowered.hpp"
#include "models/tensor/nonzero_counts.hpp"
#include "sim/arch/architecture_yaml.hpp"
#include "sim/arch/block_mapper.hpp"
#include "sim/arch/block_plan.hpp"
#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/sizes.hpp"
#include "sim/support/text_table.hpp"

namespace mantissa::cli {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 28;  // of a tensor

ConvShape shape_of(const std::vector<std::int64_t>& sizes, std::int64_t groups) {
  if (sizes[1] % groups != 0 || sizes[4] % groups != 0) {
    throw std::invalid_argument(
        fmt::format("--groups {} does not divide {} and {} channels", groups, sizes[1], sizes[4]));
  }
  ConvShape shape{.batch = sizes[0],
                  .in_channels = sizes[1],
                  .out_channels = sizes[4],
                  .groups = groups,
                  .in = {sizes[2], sizes[3]},
                  .kernel = {sizes[5], sizes[5]},
                  .stride = {sizes[6], sizes[6]},
                  .padding = {sizes[7], sizes[7]}};
  if (shape.stride[0] > 0) shape.out = shape.fitting_out();
  if (shape.out[0] < 1 || shape.out[1] < 1)
    throw std::invalid_argument("--conv: the kernel does not fit the padded image");
  check_conv_shape(shape);
  if (shape.inputs() > most_elements || shape.outputs() > most_elements || shape.weights() > most_elements)
    throw std::invalid_argument("--conv: a tensor has more than 2^28 elements");
  return shape;
}

// A gradient whose elements are zero independently of each other.
std::vector<std::uint8_t> gradient(const ConvShape& shape, double sparsity, std::uint64_t seed) {
  constexpr std::uint8_t one = 0x3C;
  std::mt19937_64 engine(seed);
  const auto limit = static_cast<std::uint64_t>(std::llround(sparsity * 9007199254740992.0));
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(shape.outputs()));
  for (std::uint8_t& code : codes) code = engine() >> 11 >= limit ? one : 0;
  return codes;
}

BlockCounts counts_of(const Architecture& arch, const BlockJob& job, const EncodedTensor& first) {
  BlockCounts counts;
  if (!job.skip) return counts;
  const std::vector<PassPhase> phases = phases_of(job.shape, job.pass);
  const PassSides sides = sides_of(job.shape, job.pass);
  const bool by_phase = arch.in_blocks() && phases.size() > 1;
  for (std::size_t phase = 0; phase < (by_phase ? phases.size() : 1); ++phase) {
    for (std::int64_t group = 0; group < job.shape.groups; ++group) {
      std::vector<std::uint16_t>& of = counts.emplace_back();
      if (by_phase) {
        append_phase_nonzero_counts(first, job.shape, phases[phase], group, arch.window, 1, of);
        continue;
      }
      const Rectangle all{0, sides.m, 0, sides.k};
      append_nonzero_counts(lowered(first, GemmSide::a, job.shape, job.pass, group, all, 1), sides.m, sides.k,
                            arch.window, 1, of);
    }
  }
  return counts;
}

struct Cost {
  GemmCycles cycles;
  std::string mapping = "simple";
};

Cost cost_of(const Architecture& arch, const BlockJob& job, const EncodedTensor& first) {
  const BlockCounts counts = counts_of(arch, job, first);
  const PassSides sides = sides_of(job.shape, job.pass);
  if (!arch.in_blocks()) {
    const GemmShape shape{.m = sides.m, .n = sides.n, .k = sides.k, .c_bits = job.c_bits};
    Cost cost;
    for (std::int64_t group = 0; group < job.shape.groups; ++group) {
      cost.cycles +=
          gemm_cycles(arch, shape, job.skip, counts.empty() ? std::vector<std::uint16_t>{} : counts[group]);
    }
    const BlockMapping whole{BlockOrder::m_outside, sides.m, job.outputs.cols(), std::int64_t{1} << 40};
    cost.cycles.tensor_bytes = static_cast<std::uint64_t>(BlockPlan(arch, job, whole).tensor_bytes());
    return cost;
  }
  const MappedCost best =
      mapped_cost(arch, job, counts,
                  job.packed ? nonzero_per_run(first, job.shape.out[1], 1) : std::vector<std::uint32_t>{});
  return {best.cost.cycles, text_of(best)};
}

}  // namespace

OrderedJson conv_json(ConvOptions& options) {
  options.settings.part();
  if (!options.settings.recipe.empty())
    throw std::invalid_argument("--set: cycles takes keys of an architecture only");
  const Architecture arch = load_architecture(options.arch, options.settings.architecture).value;
  if (arch.dataflow != Dataflow::os_skip) throw std::invalid_argument("--conv is for dataflow os-skip only");
  const ConvShape shape = shape_of(options.sizes, options.groups);
  const std::vector<std::uint8_t> codes = gradient(shape, options.sparsity, options.seed);
  const EncodedTensor g = EncodedTensor::codes(codes, formats::e5m2, 0);
  OrderedJson passes = OrderedJson::array();
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) {
    const PassSides sides = sides_of(shape, pass);
    BlockJob job{.shape = shape, .pass = pass, .outputs = {0, sides.m, 0, sides.n * shape.groups}};
    job.packed =
        pass != Pass::forward && arch.in_blocks() && arch.gradient_storage == GradientStorage::packed;
    if (pass == Pass::weight_gradient) job.c_bits = 32;
    const Cost dense = cost_of(arch, job, g);
    job.skip = options.skip && options.sparsity > 0 && arch.skip_gradients && pass != Pass::forward;
    const Cost cost = job.skip ? cost_of(arch, job, g) : dense;
    const GemmCycles& c = cost.cycles;
    // Neither the array nor DRAM can do it in fewer.
    const auto elements = static_cast<std::int64_t>(arch.rows) * arch.cols;
    const auto bound =
        static_cast<std::uint64_t>(std::max(ceil_div(static_cast<std::int64_t>(c.macs), elements),
                                            arch.data_cycles(static_cast<std::int64_t>(c.tensor_bytes))));
    const auto ratio = [](std::uint64_t a, std::uint64_t b) {
      return static_cast<double>(a) / static_cast<double>(b);
    };
    passes.push_back(
        {{"pass", name_of(pass)},
         {"M", sides.m},
         {"N", sides.n},
         {"K", sides.k},
         {"mapping", cost.mapping},
         {"cycles", c.cycles()},
         {"bound_cycles", bound},
         {"compute", c.compute},
         {"stalls", {{"load", c.stall_load}, {"write_back", c.stall_write_back}, {"drain", c.stall_drain}}},
         {"macs", c.macs},
         {"skipped_macs", c.skipped},
         {"dense_cycles", dense.cycles.cycles()},
         {"speedup", ratio(dense.cycles.cycles(), c.cycles())},
         {"utilization_dense", ratio(dense.cycles.macs, dense.cycles.cycles()) / arch.rows / arch.cols},
         {"dram_bytes", c.dram_bytes},
         {"tensor_bytes", c.tensor_bytes},
         {"traffic_factor", ratio(c.dram_bytes, c.tensor_bytes)},
         {"sram_bytes", c.sram_bytes}});
  }
  return {{"arch", arch.name}, {"sparsity", options.sparsity}, {"passes", passes}};
}

std::string conv_table(const OrderedJson& json) {
  TextTable table({{"Pass", TextTable::Align::left},
                   {"M"},
                   {"N"},
                   {"K"},
                   {"cycles"},
                   {"of bound"},
                   {"ld/wb/dr %"},
                   {"dense util"},
                   {"speed-up"},
                   {"DRAM"},
                   {"traffic"}});
  std::string mappings;
  for (const OrderedJson& pass : json.at("passes")) {
    const auto count = [&](const char* key) { return pass.at(key).get<double>(); };
    const auto stall = [&](const char* key) {
      return fixed_text(100 * pass.at("stalls").at(key).get<double>() / count("cycles"), 0);
    };
    const auto name = pass.at("pass").get<std::string>();
    table.row({name, with_prefix(count("M")), with_prefix(count("N")), with_prefix(count("K")),
               with_prefix(count("cycles")), fixed_text(count("cycles") / count("bound_cycles"), 2) + "x",
               stall("load") + "/" + stall("write_back") + "/" + stall("drain"),
               percent_text(count("utilization_dense")), fixed_text(count("speedup"), 2) + "x",
               bytes_text(count("dram_bytes")), fixed_text(count("traffic_factor"), 2) + "x"});
    mappings += fmt::format("{}: {}\n", name, pass.at("mapping").get<std::string>());
  }
  return table.text() + "\n" + mappings;
}

}  // namespace mantissa::cli
