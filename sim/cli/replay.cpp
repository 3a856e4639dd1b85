// `mantissa replay`: a training trace through the modelled accelerator.
#include "sim/replay/replay.hpp"

#include <cerrno>  // program_invocation_name
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/device_options.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/same_file.hpp"
#include "sim/cli/settings.hpp"
#include "sim/cli/size_options.hpp"
#include "sim/dut/device_guard.hpp"
#include "sim/energy/energy_yaml.hpp"
#include "sim/recipe/recipe_text.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/replay/difference.hpp"
#include "sim/replay/simulated_check.hpp"
#include "sim/report/report_csv.hpp"
#include "sim/report/report_directory.hpp"
#include "sim/report/report_json.hpp"
#include "sim/report/report_table.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/support/user_text.hpp"
#include "sim/trace/finite.hpp"

namespace mantissa::cli {
namespace {

struct ReplayOptions {
  std::string trace;
  std::string recipe = "fp8";
  std::string arch = "edge";
  std::string engine = "fast";
  std::string loss_scale;
  std::string out;
  std::string csv;
  Settings settings;
  bool summary = false;
  std::uint64_t seed = 1;
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::uint64_t sample = 0;
  std::vector<std::uint32_t> steps;
  std::string rtl;
  bool staging = false;
  std::string timeline;
  bool layers = false;
  bool json = false;
  replay::SizeLimits limits;
  std::uint64_t timeout = 60;
};

void override_loss_scale(Recipe& recipe, const std::string& text) {
  if (text.empty()) return;
  if (text == "none") {
    recipe.loss_scale.kind = LossScaleRule::Kind::none;
    return;
  }
  std::string checked = text;
  const std::string complaint = whole_number<int>(LossScale::min_exponent, LossScale::max_exponent)(checked);
  if (!complaint.empty()) {
    throw std::invalid_argument(
        "--loss-scale " + in_quotes(text) + ": expected 'none' or an exponent of two from " +
        std::to_string(LossScale::min_exponent) + " to " + std::to_string(LossScale::max_exponent));
  }
  recipe.loss_scale.kind = LossScaleRule::Kind::constant;
  recipe.loss_scale.exponent = std::stoi(checked);
}

// The architecture's own table first, then the other shipped ones. A shipped one whose name the first has
// taken for other prices is still shown, and says what it is.
std::vector<EnergyTable> energy_tables(const std::string& first) {
  const Loaded<EnergyTable> own = load_energy_table(first);
  std::vector<EnergyTable> tables = {own.value};
  for (const std::string& name : shipped_configs(ConfigKind::energy)) {
    Loaded<EnergyTable> shipped = load_energy_table(name);
    if (shipped.hash == own.hash) continue;
    if (shipped.value.name == own.value.name) shipped.value.name += " (shipped)";
    tables.push_back(std::move(shipped.value));
  }
  return tables;
}

// The command that gives the same run.
std::string command_line(const ReplayOptions& options) {
  std::string command = shell_word(program_invocation_name) + " replay " + shell_word(options.trace) +
                        " --recipe " + shell_word(options.recipe) + " --arch " + shell_word(options.arch) +
                        " --engine " + options.engine + " --sample " + std::to_string(options.sample) +
                        " --seed " + std::to_string(options.seed);
  if (!options.rtl.empty()) command += " --rtl " + shell_word(options.rtl);
  for (const std::string& word : options.settings.words) command += " --set " + shell_word(word);
  if (options.timeout != ReplayOptions{}.timeout) command += " --timeout " + std::to_string(options.timeout);
  if (!options.loss_scale.empty()) command += " --loss-scale " + shell_word(options.loss_scale);
  for (std::size_t i = 0; i < options.steps.size(); ++i)
    command += (i == 0 ? " --steps " : ",") + std::to_string(options.steps[i]);
  return command;
}

// The directory of --out is replaced as a whole.
void check_files(const ReplayOptions& options, const std::string& energy) {
  std::vector<NamedFile> inputs = {{"the trace", options.trace}};
  for (const auto& [option, name] : {std::pair{"--recipe", options.recipe}, std::pair{"--arch", options.arch},
                                     std::pair{"the architecture's energy table", energy}}) {
    if (is_config_path(name)) inputs.push_back({option, name});
  }
  if (!options.csv.empty()) {
    refuse_same_files({{"--csv", options.csv}}, inputs);
    inputs.push_back({"--csv", options.csv});
  }
  if (!options.out.empty()) {
    refuse_files_in({"--out", options.out}, inputs);
    check_report_directory(options.out);
  }
  // A run of hours should not end at a directory that is not there.
  if (!options.csv.empty()) const DraftFile probe(options.csv);
}

void run_replay(ReplayOptions& options) {
  options.settings.part();
  Loaded<Recipe> recipe = load_recipe(options.recipe, options.settings.recipe);
  override_loss_scale(recipe.value, options.loss_scale);
  const Loaded<Architecture> arch = load_architecture(options.arch, options.settings.architecture);
  check_files(options, arch.value.energy);
  const std::vector<EnergyTable> tables = energy_tables(arch.value.energy);
  const trace::Trace trace(options.trace);
  trace::check_finite(trace);
  const std::unique_ptr<replay::CrossCheck> check =
      replay::make_cross_check({.engine = options.engine,
                                .sample = options.sample,
                                .rtl = options.rtl,
                                .wave = "replay_seed" + std::to_string(options.seed) + ".fst",
                                .again = command_line(options)});
  std::optional<DeviceGuard> guard;
  if (check != nullptr) {
    guard.emplace(
        DeviceGuard::Options{.limit = std::chrono::seconds(options.timeout), .again = command_line(options)});
  }

  Progress progress;
  ReplayReport report;
  try {
    report = replay::replay(trace, recipe.value, arch.value, tables, check.get(),
                            {.seed = options.seed,
                             .threads = options.threads,
                             .steps = options.steps,
                             .staging = options.staging,
                             .timeline = options.timeline,
                             .limits = options.limits},
                            [&](std::size_t done, std::size_t total, const std::string& what) {
                              progress.show(done, total, what);
                            });
  } catch (const replay::Difference& difference) {
    progress.clear();
    standard_output().text(difference.what()).flush();
    throw ChecksFailed{};
  }
  progress.clear();
  guard.reset();
  report.version = MANTISSA_VERSION;
  report.engine = options.engine;
  report.trace = trace.path().filename().string();
  report.trace_hash = trace.file().hash();
  report.recipe_hash = recipe.hash;
  report.recipe_keys = recipe_settings(recipe.value);
  report.arch_hash = arch.hash;
  report.arch_keys = arch.keys;
  report.settings = options.settings.words;

  Output out = standard_output();
  out.text(options.json      ? report_json(report)
           : options.summary ? summary_line(report)
                             : report_text(report, options.layers));
  if (!options.csv.empty()) {
    DraftFile csv(options.csv);
    csv.out().text(report_csv(report));
    csv.publish();
  }
  if (!options.out.empty()) {
    for (const std::string& note : write_report(report, options.out)) {
      if (!options.json) out.text("note: " + note + "\n");
    }
    std::filesystem::path page = std::filesystem::path(options.out) / "report.html";
    if (!std::filesystem::exists(page)) page.replace_filename("report.json");  // python could not be started
    if (!options.json) out.text("report: " + page.string() + "\n");
  }
  out.flush();
}

}  // namespace

void add_replay(CLI::App& program) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = program.add_subcommand(
      "replay", "Run a training trace on the modelled accelerator: accuracy, energy, throughput");
  command->add_option("TRACE", options->trace, "a safetensors file, see traces/README.md")->required();
  command
      ->add_option("--recipe", options->recipe, "number formats and methods: a shipped name or a YAML file")
      ->capture_default_str();
  command->add_option("--arch", options->arch, "the accelerator: a shipped name or a YAML file")
      ->capture_default_str();
  command
      ->add_option("--engine", options->engine,
                   "fast: golden kernels and closed form; systemc: every cycle; rtl: the Verilated units; "
                   "lockstep: both, compared in every cycle")
      ->check(one_of({"fast", "systemc", "rtl", "lockstep"}))
      ->capture_default_str();
  command
      ->add_option("--sample", options->sample,
                   "tiles that a cycle-accurate engine simulates per layer and pass (minimum 4; for batch "
                   "norms, groups of channels, minimum 2; for updates, segments; 0 = all)")
      ->transform(whole_number<std::uint64_t>(0, std::uint64_t{1} << 32))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of all stochastic rounding")
      ->transform(whole_number())
      ->capture_default_str();
  command->add_option("--threads", options->threads, "number of threads; results do not depend on it")
      ->transform(whole_number<int>(1, 1024))
      ->capture_default_str();
  add_numbers<std::uint32_t>(*command, "--steps", options->steps, 0,
                             std::numeric_limits<std::uint32_t>::max(), "replay only these recorded steps");
  command->add_option("--loss-scale", options->loss_scale,
                      "overrides the recipe's loss scale: 'none', or the exponent of a power of two");
  add_size_limits(*command, options->limits);
  command->add_flag("--staging", options->staging,
                    "also show the speed-up for Depth 1, 2, 4 and Port 2, 4, 8, 16 beside its bound");
  command
      ->add_option("--timeline", options->timeline,
                   "layer whose longest product the report's timeline shows; without it, the longest of all")
      ->type_name("LAYER");
  command->add_option("--rtl", options->rtl, "directory of the RTL for the engines rtl and lockstep")
      ->type_name("DIR");
  add_timeout(*command, options->timeout);
  command->add_option("--out", options->out, "directory for report.json, layers.csv, report.html and plots")
      ->type_name("DIR");
  command->add_option("--csv", options->csv, "also write layers.csv to this file")->type_name("FILE");
  add_settings(*command, options->settings);
  command->add_flag("--summary", options->summary, "print one line of figures, for loops in a shell");
  command->add_flag("--layers", options->layers,
                    "also show every layer; the report of --out always has them");
  command->add_flag("--json", options->json, "write report.json to standard output");
  command->footer(
      "Every conv2d and linear layer becomes three GEMMs (forward, input gradient, weight gradient), every\n"
      "batch norm two passes. The engines systemc, rtl and lockstep check fast: bits, cycles, stalls and\n"
      "bytes must agree, or the first difference is printed and the exit code is 1.\n"
      "Examples:\n"
      "  mantissa replay traces/fashion-cnn.safetensors\n"
      "  mantissa replay traces/fashion-cnn.safetensors --recipe lognormal-sparse --staging --out report\n"
      "  mantissa replay traces/fashion-cnn.safetensors --recipe fp8-hybrid --arch datacentre --json\n"
      "  mantissa replay traces/fashion-cnn.safetensors --engine lockstep --sample 4\n"
      "  mantissa replay traces/fashion-cnn.safetensors --set mapping=auto --set clock=1GHz --summary\n"
      "  mantissa replay mine.safetensors --arch mine.yaml --recipe mine.yaml --loss-scale 10");
  command->callback([options] { run_replay(*options); });
}

}  // namespace mantissa::cli
