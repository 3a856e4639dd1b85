// `mantissa bench`: kernels against their peers on this machine, in one run, as ratios.
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "models/kernels/targets.hpp"
#include "sim/cli/bench_rows.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"

namespace mantissa::cli {
namespace {

std::string cpu_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown CPU";
}

std::string target_list() {
  std::string list;
  for (const std::string& name : kernels::targets()) list += (list.empty() ? "" : ", ") + name;
  return list;
}

void print_row(const BenchRow& row) {
  std::string verdict = "     -";
  if (row.target) {
    char text[32];
    std::snprintf(text, sizeof text, "%6.3f  %s", *row.target, row.ratio() >= *row.target ? "met" : "MISSED");
    verdict = text;
  }
  std::printf("%-38s %-6s %8.3f %-8s %-19s %9.4f %9.4f  %s\n", row.name.c_str(), row.simd.c_str(), row.rate,
              row.unit.c_str(), row.peer.c_str(), row.peer_rate, row.ratio(), verdict.c_str());
  std::fflush(stdout);
}

nlohmann::ordered_json to_json(const BenchRow& row) {
  nlohmann::ordered_json object{{"name", row.name},    {"simd", row.simd}, {"rate", row.rate},
                                {"unit", row.unit},    {"peer", row.peer}, {"peer_rate", row.peer_rate},
                                {"ratio", row.ratio()}};
  if (row.target) {
    object["target"] = *row.target;
    object["met"] = row.ratio() >= *row.target;
  }
  return object;
}

void bench(const BenchSettings& settings, bool json) {
  const OpenBlas blas;
  nlohmann::ordered_json report{{"version", MANTISSA_VERSION},
                                {"cpu", cpu_name()},
                                {"simd_targets", kernels::targets()},
                                {"openblas_core", blas.core_name()},
                                {"threads", 1},
                                {"size", settings.size},
                                {"elements", settings.elements},
                                {"repeat", settings.repeat},
                                {"seed", settings.seed},
                                {"rows", nlohmann::ordered_json::array()}};
  if (!json) {
    std::printf("mantissa %s, %s\n", MANTISSA_VERSION, cpu_name().c_str());
    std::printf("SIMD targets %s; OpenBLAS core %s; one thread; best of %d, kernel and peer in turns\n",
                target_list().c_str(), blas.core_name().c_str(), settings.repeat);
    std::printf("GEMM M = N = K = %d of N(0,1) values, tensors of %lld elements, seed %llu\n\n",
                settings.size, static_cast<long long>(settings.elements),
                static_cast<unsigned long long>(settings.seed));
    std::printf("%-38s %-6s %8s %-8s %-19s %9s %9s  %s\n", "kernel", "SIMD", "rate", "unit", "peer",
                "peer rate", "ratio", "target");
  }
  Progress progress;
  run_bench(settings, blas,
            {.starting = [&](std::size_t done, std::size_t total,
                             const std::string& next) { progress.show(done, total, next); },
             .measured =
                 [&](const BenchRow& row) {
                   progress.clear();
                   if (json) {
                     report["rows"].push_back(to_json(row));
                   } else {
                     print_row(row);
                   }
                 }});
  if (json) std::printf("%s\n", report.dump(2).c_str());
}

}  // namespace

void add_bench(CLI::App& program) {
  auto settings = std::make_shared<BenchSettings>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("bench", "Measure the kernels against OpenBLAS, memcpy and a scalar loop");
  command->add_option("--size", settings->size, "M = N = K of the GEMMs, 16..8192")
      ->check(CLI::Range(16, 8192))
      ->capture_default_str();
  command
      ->add_option("--elements", settings->elements, "elements of the tensors, a multiple of 16, up to 2^28")
      ->check(CLI::Range(16, 1 << 28))
      ->capture_default_str();
  command->add_option("--repeat", settings->repeat, "take the best of this many runs, 1..1000")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", settings->seed, "seed of the data")
      ->check(whole_number())
      ->capture_default_str();
  command->add_flag("--json", *json, "one JSON document with an object per row instead of the table");
  command->footer(
      "Examples:\n"
      "  mantissa bench\n"
      "  mantissa bench --repeat 20\n"
      "  mantissa bench --size 256 --elements 1048576 --json > bench.json\n"
      "A ratio is the kernel's rate over the peer's, both the best of several turns in this run. Rates of "
      "CPFloat are\n"
      "published ones: Debian does not have it.");
  command->callback([settings, json] {
    if (settings->elements % 16 != 0) throw std::invalid_argument("--elements must be a multiple of 16");
    bench(*settings, *json);
  });
}

}  // namespace mantissa::cli
