// `mantissa bench`: kernels against their peers on this machine, in one run, as ratios.
#include <fstream>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>

#include "models/kernels/targets.hpp"
#include "sim/bench/bench_rows.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa::cli {

using bench::BenchRow;
using bench::BenchSettings;
using bench::OpenBlas;

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

std::string heading(const BenchSettings& settings, const OpenBlas& blas) {
  return "mantissa " MANTISSA_VERSION ", " + cpu_name() + "\nSIMD targets " + target_list() +
         "; OpenBLAS core " + blas.core_name() + "; one thread; best of " + std::to_string(settings.repeat) +
         ", kernel and peer in turns\nGEMM M = N = K = " + std::to_string(settings.size) +
         " of N(0,1) values, tensors of " + std::to_string(settings.elements) + " elements, layers of " +
         std::to_string(settings.batch) + " images, seed " + std::to_string(settings.seed) + "\n\n";
}

// One line of the table.
std::string line_of(const BenchRow& row) {
  std::ostringstream line;
  line << std::fixed << std::left << std::setw(39) << row.name << std::setw(7) << row.simd << std::right
       << std::setprecision(3) << std::setw(8) << row.rate << " " << std::left << std::setw(9) << row.unit
       << std::setw(20) << row.peer << std::right << std::setprecision(4) << std::setw(9) << row.peer_rate
       << std::setw(10) << row.ratio() << "  ";
  if (row.target) {
    line << std::setprecision(3) << std::setw(6) << *row.target
         << (row.ratio() >= *row.target ? "  met" : "  MISSED");
  } else {
    line << "     -";
  }
  line << "\n";
  return line.str();
}

constexpr const char* column_names =
    "kernel                                 SIMD       rate unit     peer                peer rate     ratio "
    " "
    "target\n";

OrderedJson to_json(const BenchRow& row) {
  OrderedJson object{{"name", row.name},    {"simd", row.simd}, {"rate", row.rate},
                     {"unit", row.unit},    {"peer", row.peer}, {"peer_rate", row.peer_rate},
                     {"ratio", row.ratio()}};
  if (row.target) {
    object["target"] = *row.target;
    object["met"] = row.ratio() >= *row.target;
  }
  return object;
}

void measure(const BenchSettings& settings, bool json) {
  const OpenBlas blas;
  OrderedJson report{{"version", MANTISSA_VERSION},
                     {"cpu", cpu_name()},
                     {"simd_targets", kernels::targets()},
                     {"openblas_core", blas.core_name()},
                     {"threads", 1},
                     {"size", settings.size},
                     {"elements", settings.elements},
                     {"batch", settings.batch},
                     {"repeat", settings.repeat},
                     {"seed", settings.seed},
                     {"rows", OrderedJson::array()}};
  Output out = standard_stream();
  if (!json) out.text(heading(settings, blas)).text(column_names).flush();
  Progress progress;
  bench::run_bench(settings, blas,
                   {.starting = [&](std::size_t done, std::size_t total,
                                    const std::string& next) { progress.show(done, total, next); },
                    .measured =
                        [&](const BenchRow& row) {
                          progress.clear();
                          if (json) {
                            report["rows"].push_back(to_json(row));
                          } else {
                            out.text(line_of(row)).flush();
                          }
                        }});
  if (json) out.text(json_text(report, 2)).text("\n").flush();
}

}  // namespace

void add_bench(CLI::App& program) {
  auto settings = std::make_shared<BenchSettings>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      program.add_subcommand("bench", "Measure the kernels against OpenBLAS, memcpy and a scalar loop");
  command->add_option("--size", settings->size, "M = N = K of the GEMMs, 16..8192")
      ->transform(whole_number(16, 8192))
      ->capture_default_str();
  command
      ->add_option("--elements", settings->elements, "elements of the tensors, a multiple of 16, up to 2^28")
      ->transform(whole_number(16, 1 << 28))
      ->capture_default_str();
  command->add_option("--batch", settings->batch, "images of the layers, 1..1024")
      ->transform(whole_number(1, 1024))
      ->capture_default_str();
  command->add_option("--image", settings->image, "height and width of a whole step's images, 8..1024")
      ->transform(whole_number(8, 1024))
      ->capture_default_str();
  command->add_option("--repeat", settings->repeat, "take the best of this many runs, 1..1000")
      ->transform(whole_number(1, 1000))
      ->capture_default_str();
  command->add_option("--seed", settings->seed, "seed of the data")
      ->transform(whole_number())
      ->capture_default_str();
  command->add_flag("--json", *json, "one JSON document with an object per row instead of the table");
  command->footer(
      "Examples:\n"
      "  mantissa bench\n"
      "  mantissa bench --repeat 20\n"
      "  mantissa bench --size 256 --elements 1048576 --batch 16 --json > bench.json\n"
      "A ratio is the kernel's rate over the peer's, both the best of several runs taken in turns. "
      "CPFloat's\n"
      "rate is a published one: Debian does not package it.");
  command->callback([settings, json] {
    if (settings->elements % 16 != 0) throw std::invalid_argument("--elements must be a multiple of 16");
    measure(*settings, *json);
  });
}

}  // namespace mantissa::cli
