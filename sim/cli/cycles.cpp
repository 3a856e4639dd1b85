// `mantissa cycles`: what one GEMM costs on an array, in closed form.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/arch/gemm_cycles.hpp"
#include "sim/arch/staging.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/cycles_conv.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa::cli {
namespace {

struct CyclesOptions {
  std::string dataflow = "os-skip";
  std::string array = "16x16";
  std::string gemm;
  Architecture arch;
  std::int64_t burst_cycles = Architecture().dram_burst_cycles.numerator;
  bool skip = false;  // said so; it is the default
  bool no_skip = false;
  bool no_memory = false;
  double sparsity = 0;
  std::uint64_t seed = 1;
  bool speedup = false;
  bool json = false;
  std::string conv;
  ConvOptions of_conv;
  std::vector<const CLI::Option*> os_skip_only = {};
};

// "16x16" or "64,64,3200": whole numbers with a separator, nothing else.
std::vector<std::int64_t> sizes(const std::string& option, const std::string& text, char separator,
                                std::size_t count, const std::string& form, std::int64_t least = 1) {
  std::vector<std::int64_t> found;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < least) break;
    found.push_back(value);
    if (after == end) {
      if (found.size() == count) return found;
      break;
    }
    if (*after != separator) break;
    at = after + 1;
  }
  throw std::invalid_argument(option + " " + in_quotes(text) + " is not " + form);
}

// Non-zeros per row and window of an A whose elements are zero independently of each other.
std::vector<std::uint16_t> independent_zeros(const GemmShape& shape, int window, double sparsity,
                                             std::uint64_t seed) {
  constexpr std::int64_t most = std::int64_t{1} << 28;  // one draw each: seconds
  if (shape.m > most / shape.k) {
    throw std::invalid_argument("--sparsity draws every element of A, but M * K = " +
                                std::to_string(shape.m * shape.k) + " is more than 2^28");
  }
  // The engine is the standard's, bit for bit, its distributions are not.
  std::mt19937_64 engine(seed);
  const auto limit = static_cast<std::uint64_t>(std::llround(std::ldexp(sparsity, 53)));
  std::vector<std::uint16_t> counts;
  counts.reserve(static_cast<std::size_t>(shape.m * ((shape.k + window - 1) / window)));
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t k = 0; k < shape.k; k += window) {
      unsigned nonzero = 0;
      for (std::int64_t i = std::min<std::int64_t>(window, shape.k - k); i > 0; --i) {
        nonzero += engine() >> 11 >= limit ? 1U : 0U;
      }
      counts.push_back(static_cast<std::uint16_t>(nonzero));
    }
  }
  return counts;
}

// Infinite bandwidth and no drain: the array alone, each tile one step.
GemmCycles compute_only(const Architecture& arch, const GemmShape& shape, bool skip,
                        std::span<const std::uint16_t> nonzero) {
  const std::int64_t tile_cols = (shape.n + arch.cols - 1) / arch.cols;
  const std::int64_t tile_rows = (shape.m + arch.rows - 1) / arch.rows;
  GemmCycles cost{.compute = compute_cycles(arch.skip_window(skip), shape.m, shape.k, nonzero, tile_cols),
                  .tiles = static_cast<std::uint64_t>(tile_rows * tile_cols)};
  cost.steps = cost.tiles;
  auto taken = static_cast<std::uint64_t>(shape.m * shape.k);
  if (skip) {
    taken = 0;
    for (const std::uint16_t count : nonzero) taken += count;
  }
  cost.macs = taken * static_cast<std::uint64_t>(shape.n);
  cost.skipped = static_cast<std::uint64_t>(shape.m * shape.n * shape.k) - cost.macs;
  return cost;
}

double share(const CyclesOptions& options, double macs, std::uint64_t cycles) {
  return macs / (static_cast<double>(options.arch.rows) * options.arch.cols * static_cast<double>(cycles));
}

OrderedJson os_skip_json(const CyclesOptions& options, const GemmShape& shape) {
  const Architecture& arch = options.arch;
  check_gemm_size(shape.m, shape.n, shape.k);
  arch.check();
  // Without zeros skipping changes nothing, and there is nothing to draw.
  const bool zeros = options.sparsity > 0;
  const bool skip = zeros && !options.no_skip;
  std::vector<std::uint16_t> nonzero;
  if (skip || (zeros && options.speedup)) {
    nonzero = independent_zeros(shape, arch.window, options.sparsity, options.seed);
  }
  const GemmCycles cost =
      options.no_memory ? compute_only(arch, shape, skip, nonzero) : gemm_cycles(arch, shape, skip, nonzero);
  const double all =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  OrderedJson json{
      {"dataflow", name_of(arch.dataflow)},
      {"cycles", cost.cycles()},
      {"utilization", share(options, all, cost.cycles())},
      {"folds", cost.tiles},
      {"compute", cost.compute},
      {"stalls",
       {{"load", cost.stall_load}, {"write_back", cost.stall_write_back}, {"drain", cost.stall_drain}}},
      {"steps", cost.steps},
      {"macs", cost.macs},
      {"skipped_macs", cost.skipped},
      {"utilization_executed", share(options, static_cast<double>(cost.macs), cost.cycles())},
      {"dram_bytes", cost.dram_bytes},
      {"dram_bytes_unique", cost.dram_bytes_unique},
      {"sram_bytes", cost.sram_bytes}};
  if (options.speedup) {
    StagingTable table(arch);
    table.add_dense(shape.m, shape.n, shape.k, zeros ? 1 : 3);
    if (zeros) table.add_gradient(shape.m, shape.n, shape.k, nonzero, 2);
    OrderedJson points = OrderedJson::array();
    for (const StagingPoint& point : table.points()) {
      points.push_back({{"depth", point.depth}, {"port", point.port}, {"speedup", point.speedup}});
    }
    json["sparsity"] = options.sparsity;
    json["speedup_bound"] = speedup_bound(options.sparsity);
    json["speedup"] = points;
  }
  return json;
}

OrderedJson fold_json(const CyclesOptions& options, const GemmShape& shape) {
  for (const CLI::Option* option : options.os_skip_only) {
    if (option->count() > 0) {
      throw std::invalid_argument(option->get_name() + " is for dataflow os-skip only, not " +
                                  options.dataflow);
    }
  }
  const Architecture& arch = options.arch;
  const FoldCycles cost = fold_cycles(arch.dataflow, arch.rows, arch.cols, shape.m, shape.n, shape.k);
  const double all =
      static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
  OrderedJson json{{"dataflow", name_of(arch.dataflow)},
                   {"cycles", cost.cycles},
                   {"utilization", share(options, all, cost.cycles)},
                   {"folds", cost.folds}};
  if (arch.dataflow != Dataflow::stonne_os) json["scalesim_reported_cycles"] = cost.cycles - 1;
  return json;
}

std::string percent(const OrderedJson& share) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << 100 * share.get<double>() << " %";
  return text.str();
}

std::string table_of(const OrderedJson& json) {
  std::ostringstream text;
  const auto row = [&](const char* name, const OrderedJson& value, const std::string& note = "") {
    text << std::left << std::setw(22) << name << std::right << std::setw(16) << value.get<std::uint64_t>()
         << (note.empty() ? "" : "  ") << note << "\n";
  };
  std::string utilization = "utilization " + percent(json["utilization"]);
  if (json.value("skipped_macs", std::uint64_t{0}) > 0) {
    utilization += ", " + percent(json["utilization_executed"]) + " without skipped MACs";
  }
  row("cycles", json["cycles"], utilization);
  if (!json.contains("compute")) {
    row("folds", json["folds"]);
    if (json.contains("scalesim_reported_cycles")) row("SCALE-Sim prints", json["scalesim_reported_cycles"]);
    return text.str();
  }
  row("  compute", json["compute"]);
  row("  stall: load", json["stalls"]["load"]);
  row("  stall: write-back", json["stalls"]["write_back"]);
  row("  stall: drain", json["stalls"]["drain"]);
  row("tiles", json["folds"], "in " + std::to_string(json["steps"].get<std::uint64_t>()) + " steps");
  row("MACs executed", json["macs"]);
  row("MACs skipped", json["skipped_macs"]);
  row("DRAM bytes", json["dram_bytes"],
      "tensors " + std::to_string(json["dram_bytes_unique"].get<std::uint64_t>()));
  row("SRAM bytes", json["sram_bytes"]);
  return text.str();
}

std::string speedup_table(const OrderedJson& json) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(2) << "\ntraining speed-up at " << percent(json["sparsity"])
       << " zeros in gradients, no memory; bound 3/(1+2(1-S)) = " << json["speedup_bound"].get<double>()
       << "\n";
  int port = 0;
  text << "          Depth 1  Depth 2  Depth 4";
  for (const OrderedJson& point : json["speedup"]) {
    if (point["port"] != port) {
      port = point["port"];
      text << "\nPort " << std::left << std::setw(4) << port << std::right;
    }
    text << (point["depth"] == 1 ? "" : " ") << std::setw(8) << point["speedup"].get<double>();
  }
  text << "\n";
  return text.str();
}

void run_conv(CyclesOptions& options) {
  options.of_conv.sizes =
      sizes("--conv", options.conv, ',', 8, "N,C,H,W,O,k,s,p, such as 4,64,56,56,64,3,1,1", 0);
  options.of_conv.sparsity = options.sparsity;
  options.of_conv.seed = options.seed;
  options.of_conv.skip = !options.no_skip;
  const OrderedJson json = conv_json(options.of_conv);
  standard_output().text(options.json ? json_text(json, 2) + "\n" : conv_table(json)).flush();
}

void run_cycles(CyclesOptions& options) {
  if (!options.conv.empty()) return run_conv(options);
  if (options.gemm.empty()) throw std::invalid_argument("cycles needs --gemm or --conv");
  const std::vector<std::int64_t> array = sizes("--array", options.array, 'x', 2, "ROWSxCOLS, such as 16x16");
  const std::vector<std::int64_t> gemm =
      sizes("--gemm", options.gemm, ',', 3, "M,N,K, each at least 1, such as 256,256,256");
  for (const std::int64_t side : array) {
    if (side > ArchitectureLimits::side) {
      throw std::invalid_argument("--array " + in_quotes(options.array) + " has more than " +
                                  std::to_string(ArchitectureLimits::side) + " rows or columns");
    }
  }
  options.arch.rows = static_cast<int>(array[0]);
  options.arch.cols = static_cast<int>(array[1]);
  options.arch.dram_burst_cycles = options.burst_cycles;
  options.arch.dataflow = parse_dataflow(options.dataflow);
  const GemmShape shape{.m = gemm[0], .n = gemm[1], .k = gemm[2]};
  const bool os_skip = options.arch.dataflow == Dataflow::os_skip;
  const OrderedJson json = os_skip ? os_skip_json(options, shape) : fold_json(options, shape);
  Output out = standard_output();
  if (options.json) {
    out.text(json_text(json, 2)).text("\n");
  } else {
    out.text(table_of(json));
    if (options.speedup) out.text(speedup_table(json));
  }
  out.flush();
}

}  // namespace

void add_cycles(CLI::App& program) {
  auto options = std::make_shared<CyclesOptions>();
  Architecture& arch = options->arch;
  CLI::App* command = program.add_subcommand("cycles", "Compute the cycles and bytes of one GEMM");
  command
      ->add_option(
          "--dataflow", options->dataflow,
          "os-skip, or a convention of other simulators: scalesim-ws, scalesim-is, scalesim-os, stonne-os")
      ->capture_default_str();
  command->add_option("--array", options->array, "rows x columns")->type_name("RxC")->capture_default_str();
  CLI::Option* gemm =
      command->add_option("--gemm", options->gemm, "C[M,N] = A[M,K] B[K,N]")->type_name("M,N,K");
  CLI::Option* conv = command
                          ->add_option("--conv", options->conv,
                                       "the three passes of a convolution: images, channels, height, width, "
                                       "output channels, kernel, stride, padding")
                          ->type_name("N,C,H,W,O,k,s,p")
                          ->excludes(gemm);
  command
      ->add_option("--groups", options->of_conv.groups,
                   "with --conv: of its channels; as many as channels make it depthwise")
      ->transform(whole_number<std::int64_t>(1, 65536))
      ->needs(conv)
      ->capture_default_str();
  command->add_option("--arch", options->of_conv.arch, "with --conv: a shipped name or a YAML file")
      ->needs(conv)
      ->capture_default_str();
  add_settings(*command, options->of_conv.settings)->needs(conv);
  command->add_flag("--json", options->json, "write JSON to standard output");
  const auto only = [&](CLI::Option* option) {
    options->os_skip_only.push_back(option->group("os-skip"));
    return option;
  };
  const auto number = [&]<class Integer>(const char* name, Integer& value, Integer min, Integer max,
                                         const char* what) {
    only(command->add_option(name, value, what))->transform(whole_number(min, max))->capture_default_str();
  };
  only(command->add_option("--sparsity", options->sparsity, "share of independent zeros in A, 0..1"))
      ->transform(real_number(0, 1))
      ->type_name("S")
      ->capture_default_str();
  only(command->add_option("--seed", options->seed, "seed of the zeros' places"))
      ->transform(whole_number())
      ->capture_default_str();
  CLI::Option* skip = only(command->add_flag("--skip", options->skip, "skip zeros of A (default)"));
  only(command->add_flag("--no-skip", options->no_skip, "spend cycles on zeros of A"))->excludes(skip);
  number("--window", arch.window, 1, ArchitectureLimits::window, "k per skip window");
  number("--depth", arch.depth, 1, 1024, "windows staged at a time");
  number("--port", arch.port, 1, ArchitectureLimits::window, "k-slices staged per cycle");
  number("--pipe-latency", arch.pipe_latency, 0, 1024, "cycles of a drain beyond one per row");
  only(command->add_flag("--acc-double-buffer", arch.acc_double_buffer, "use two sets of accumulators"));
  number("--a-buffer", arch.a_buffer_bytes, std::int64_t{1}, std::int64_t{1} << 40,
         "size of the A buffer in bytes, both halves together");
  number("--b-buffer", arch.b_buffer_bytes, std::int64_t{1}, std::int64_t{1} << 40,
         "size of the B buffer in bytes, both halves together");
  number("--dram-latency", arch.dram_latency_cycles, std::int64_t{0}, std::int64_t{1} << 20,
         "cycles before a transfer's first burst");
  number("--burst-bytes", arch.dram_burst_bytes, std::int64_t{1}, std::int64_t{1} << 20, "bytes per burst");
  number("--burst-cycles", options->burst_cycles, std::int64_t{1}, std::int64_t{1} << 12, "cycles per burst");
  only(command->add_flag("--no-memory", options->no_memory, "model the array alone: no DRAM, no drain"));
  only(command->add_flag("--speedup", options->speedup,
                         "show the speed-up of training at Depth 1, 2, 4 and Port 2, 4, 8, 16"));
  command->footer(
      "Elements have 8 bits. utilization is M*N*K / (rows*columns*cycles) and counts skipped MACs as done;\n"
      "utilization_executed does not. For os-skip, folds are tiles. SCALE-Sim itself prints one cycle less\n"
      "than its folds take: scalesim_reported_cycles.\n"
      "Examples:\n"
      "  mantissa cycles --gemm 3136,64,576 --sparsity 0.85\n"
      "  mantissa cycles --array 32x32 --gemm 256,256,256 --b-buffer 16384 --burst-cycles 32\n"
      "  mantissa cycles --gemm 16,16,3200 --sparsity 0.85 --no-memory --speedup\n"
      "  mantissa cycles --arch edge --set mapping=auto --conv 4,64,56,56,64,3,1,1 --sparsity 0.85\n"
      "  mantissa cycles --dataflow scalesim-ws --array 32x32 --gemm 256,256,256 --json");
  command->callback([options] { run_cycles(*options); });
}

}  // namespace mantissa::cli
