// `mantissa verify`: golden model, SystemC unit and RTL in lockstep; ours, or somebody else's RTL in our
// place.
#include <cerrno>  // program_invocation_name
#include <chrono>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/cli/commands.hpp"
#include "sim/cli/device_options.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/same_file.hpp"
#include "sim/cli/verify_report.hpp"
#include "sim/support/user_text.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyOptions {
  std::vector<std::string> units;
  bool all = false;
  bool list = false;
  bool exhaustive = false;
  bool json = false;
  std::uint64_t vectors = 0;  // 0: the unit's own default
  std::uint64_t seed = 1;
  std::string configuration;
  std::vector<std::string> settings;  // NAME=VALUE over the configuration's parameters
  std::string wave;
  std::string coverage;
  std::string corrupt;
  std::uint64_t timeout = 60;
  DeviceOptions device;
};

// Cycles before and after a mismatch that its waveform shows.
constexpr std::uint64_t cycles_before = 100;
constexpr std::uint64_t cycles_after = 2;

std::vector<const verify::UnitKind*> chosen_units(const VerifyOptions& options) {
  std::vector<const verify::UnitKind*> kinds;
  if (options.all) {
    if (!options.units.empty()) throw std::invalid_argument("--all and a UNIT cannot be combined");
    for (const verify::UnitKind& kind : verify::unit_kinds()) kinds.push_back(&kind);
  }
  for (const std::string& name : options.units) kinds.push_back(&verify::find_unit(name));
  if (kinds.empty())
    throw std::invalid_argument("verify needs a UNIT or --all; mantissa verify --list shows the units");
  return kinds;
}

std::vector<verify::Configuration> chosen_configurations(const verify::UnitKind& kind,
                                                         const VerifyOptions& options) {
  std::vector<verify::Configuration> chosen;
  std::string known;
  for (const verify::Configuration& configuration : kind.configurations) {
    known += " '" + configuration.name + "'";
    if (options.configuration.empty() || options.configuration == configuration.name)
      chosen.push_back(configuration);
  }
  if (chosen.empty()) {
    throw std::invalid_argument("unit " + kind.name + " has no configuration " +
                                in_quotes(options.configuration) + "; it has" + known);
  }
  // A device is one thing: it behaves as the first configuration unless told otherwise.
  if (!options.device.files.empty() || !options.settings.empty()) chosen.resize(1);
  for (const std::string& setting : options.settings) {
    const auto [name, text] = name_and_value(setting, "--set");
    std::string checked = text;
    const std::string complaint = whole_number<int>(0, 1 << 20)(checked);
    if (!complaint.empty()) {
      std::string message = "--set ";
      throw std::invalid_argument(message.append(name).append(": ").append(complaint));
    }
    chosen.front().parameters.set(name, std::stoi(checked));
  }
  return chosen;
}

std::string file_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

class Session {
 public:
  explicit Session(const VerifyOptions& options) : options_(options), foreign_(options.device.device()) {}

  SessionReport run() {
    const std::vector<const verify::UnitKind*> kinds = chosen_units(options_);
    if (foreign_ && kinds.size() != 1)
      throw std::invalid_argument("--dut checks a device against one unit; name it");
    if (!options_.coverage.empty()) fs::create_directories(options_.coverage);
    std::vector<std::vector<verify::Configuration>> configurations;
    for (const verify::UnitKind* kind : kinds) {
      configurations.push_back(configurations_of(*kind));
      total_ += configurations.back().size();
    }
    if (!options_.wave.empty() && total_ != 1) {
      throw std::invalid_argument(
          "--wave writes one waveform; name one unit, and one of its configurations with --config");
    }
    if (!options_.wave.empty()) refuse_same_files({{"--wave", options_.wave}}, options_.device.inputs());
    for (std::size_t i = 0; i < kinds.size(); ++i) run_unit(*kinds[i], configurations[i]);
    return std::move(report_);
  }

 private:
  // With --exhaustive those that have such a run.
  std::vector<verify::Configuration> configurations_of(const verify::UnitKind& kind) const {
    std::vector<verify::Configuration> chosen = chosen_configurations(kind, options_);
    if (!options_.exhaustive) return chosen;
    std::erase_if(chosen, [&kind](const verify::Configuration& configuration) {
      return kind.reference(kind.complete(configuration.parameters))->exhaustive_count() == 0;
    });
    if (chosen.empty() && !options_.all)
      throw std::invalid_argument("unit " + kind.name + " has too many inputs for --exhaustive");
    return chosen;
  }

  void run_unit(const verify::UnitKind& kind, const std::vector<verify::Configuration>& configurations) {
    verify::RtlCoverage coverage;
    for (const verify::Configuration& configuration : configurations) {
      const verify::VerifyJob job = job_for(kind, configuration);
      if (!job.coverage_data.empty()) fs::remove(job.coverage_data);
      ConfigurationReport report = run_configuration(job);
      if (!job.coverage_data.empty() && !report.run.died) coverage.add(job.coverage_data);
      const bool failed = report.run.lockstep.mismatch.has_value();
      report_.configurations.push_back(std::move(report));
      if (failed) break;
    }
    if (!coverage.empty()) {
      report_.coverage.push_back({kind.name, coverage.lines(kind.exclusions),
                                  coverage.toggles(kind.exclusions), coverage.missed(kind.exclusions),
                                  kind.exclusions});
    }
  }

  verify::VerifyJob job_for(const verify::UnitKind& kind, const verify::Configuration& configuration) const {
    verify::VerifyJob job;
    job.kind = &kind;
    job.configuration = configuration;
    job.foreign = foreign_;
    job.corrupt_stage = options_.corrupt;
    job.lockstep.transactions = options_.vectors != 0 ? options_.vectors : kind.default_transactions;
    job.lockstep.seed = options_.seed;
    job.lockstep.exhaustive = options_.exhaustive;
    job.lockstep.wave = options_.wave;
    job.timeout = std::chrono::seconds(options_.timeout);
    if (!options_.coverage.empty() && configuration.coverage) {
      job.coverage_data =
          fs::path(options_.coverage) / (file_name(kind.name + "_" + configuration.name) + ".dat");
    }
    return job;
  }

  ConfigurationReport run_configuration(const verify::VerifyJob& job) {
    std::string label = job.configuration.name;
    for (const std::string& setting : options_.settings) label += ", " + setting;
    const std::string what = job.kind->name + " (" + label + ")";
    progress_.show(done_, total_, what);
    ConfigurationReport report{
        .unit = job.kind->name,
        .configuration = label,
        .device = job.foreign ? job.foreign->sources.top : job.kind->module,
        .seed = options_.seed,
        .run = verify::run_verify(job,
                                  [&](std::uint64_t done, std::uint64_t wanted) {
                                    const std::uint64_t percent = wanted == 0 ? 0 : 100 * done / wanted;
                                    progress_.show(done_, total_,
                                                   what + " " + std::to_string(percent) + " %");
                                  }),
        .reproduce = {},
        .wave = {}};
    ++done_;
    if (report.run.lockstep.mismatch) {
      if (!report.run.died) report.wave = options_.wave;
      if (report.wave.empty() && !report.run.died) record_waveform(job, report);
      report.reproduce = reproduce(job, report.wave);
    }
    return report;
  }

  // Runs again with a waveform around the mismatch; stimulus and stalls are the same.
  void record_waveform(const verify::VerifyJob& job, ConfigurationReport& report) {
    verify::VerifyJob again = job;
    const std::uint64_t cycle = report.run.lockstep.mismatch->cycle;
    const std::string wave = file_name(job.kind->name + "_seed" + std::to_string(options_.seed)) + ".fst";
    again.coverage_data.clear();
    again.lockstep.wave = wave;
    again.lockstep.wave_first = cycle > cycles_before ? cycle - cycles_before : 0;
    again.lockstep.wave_last = cycle + cycles_after;
    progress_.show(done_, total_, job.kind->name + ": waveform of the mismatch");
    try {
      verify::run_verify(again, [](std::uint64_t, std::uint64_t) {});
      report.wave = wave;
    } catch (const std::exception& error) {
      // The mismatch is what counts.
      report.run.lockstep.mismatch->golden.push_back("no waveform: " + std::string(error.what()));
    }
  }

  std::string reproduce(const verify::VerifyJob& job, const std::string& wave) const {
    std::string command = shell_word(program_invocation_name) + " verify " + job.kind->name;
    if (!options_.configuration.empty() || !foreign_)
      command += " --config " + shell_word(job.configuration.name);
    for (const std::string& setting : options_.settings) command += " --set " + shell_word(setting);
    command += options_.device.command_line();
    if (options_.exhaustive) command += " --exhaustive";
    command += " --vectors " + std::to_string(job.lockstep.transactions) + " --seed " +
               std::to_string(options_.seed);
    if (options_.timeout != VerifyOptions{}.timeout)
      command += " --timeout " + std::to_string(options_.timeout);
    if (!options_.corrupt.empty()) command += " --corrupt " + shell_word(options_.corrupt);
    return wave.empty() ? command : command + " --wave " + shell_word(wave);
  }

  const VerifyOptions& options_;
  std::optional<verify::ForeignDevice> foreign_;
  Progress progress_;
  std::size_t done_ = 0;
  std::size_t total_ = 0;
  SessionReport report_;
};

void run_verify_command(const VerifyOptions& options) {
  Output out = standard_output();
  if (options.list) {
    if (options.all || !options.units.empty())
      throw std::invalid_argument("--list shows all units; it takes neither --all nor a UNIT");
    out.text(options.json ? unit_list_json() : unit_list()).flush();
    return;
  }
  const SessionReport report = Session(options).run();
  out.text(options.json ? report.json() : report.text()).flush();
  if (!report.passed()) throw ChecksFailed{};
}

}  // namespace

void add_verify(CLI::App& program) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = program.add_subcommand("verify", "Check RTL against the golden model, cycle by cycle");
  command->add_option("UNIT", options->units, "units to check; --list shows all of them");
  command->add_flag("--all", options->all, "check every unit in every configuration");
  command->add_flag("--list", options->list, "show the units with their ports and parameters");
  command->add_option("--vectors", options->vectors, "transactions per configuration (default: by unit)")
      ->transform(whole_number(std::uint64_t{1}, std::uint64_t{1} << 40));
  command->add_flag("--exhaustive", options->exhaustive,
                    "all inputs of small units; all operand pairs of fp8_mac with corner-case accumulators");
  command->add_option("--seed", options->seed, "seed of stimulus and stalls")
      ->transform(whole_number())
      ->capture_default_str();
  command->add_option("--config", options->configuration, "check only this configuration of the unit")
      ->type_name("NAME");
  command->add_option("--set", options->settings, "override one of the unit's parameters")
      ->allow_extra_args(false)
      ->type_name("K=V");
  command->add_option("--wave", options->wave, "write a waveform of the whole run")->type_name("F.fst");
  command
      ->add_option("--coverage", options->coverage, "measure RTL line and toggle coverage; data goes to DIR")
      ->type_name("DIR");
  command
      ->add_option("--corrupt", options->corrupt,
                   "self-check: flip a bit in this stage of the SystemC unit; the run must then fail")
      ->type_name("STAGE");
  add_timeout(*command, options->timeout);
  command->add_flag("--json", options->json, "write JSON to standard output");
  options->device.add_to(*command);
  command->footer(
      "The first run of a unit compiles it; later runs use the cache ($MANTISSA_CACHE, or\n"
      "~/.cache/mantissa). A mismatch prints operands, results, the golden model's intermediate values and\n"
      "the first wrong stage, writes a waveform around it, and exits with code 1.\n"
      "Examples:\n"
      "  mantissa verify --all\n"
      "  mantissa verify fp8_mac --exhaustive\n"
      "  mantissa verify fp8_mac --config 'e4m3 fp32' --seed 7 --wave mac.fst\n"
      "  mantissa verify fp8_mac --dut my_mac.sv --top my_mac --map a_i=opa --map b_i=opb --latency 3\n"
      "  mantissa verify --all --coverage coverage");
  command->callback([options] { run_verify_command(*options); });
}

}  // namespace mantissa::cli
