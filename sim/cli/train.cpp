// `mantissa train`: a network learns Fashion-MNIST with the hardware's arithmetic.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/arch/architecture_yaml.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/same_file.hpp"
#include "sim/cli/together.hpp"
#include "sim/recipe/recipe_text.hpp"
#include "sim/recipe/recipe_yaml.hpp"
#include "sim/report/plot_tool.hpp"
#include "sim/support/config_file.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/train/network_yaml.hpp"
#include "sim/train/train_json.hpp"
#include "sim/train/train_table.hpp"
#include "sim/train/trainer.hpp"
#include "sim/workers/group.hpp"
#include "sim/workers/mpi_group.hpp"

namespace mantissa::cli {
namespace {

struct TrainOptions {
  std::string recipe = "fp8";
  std::string network = "lenet";
  std::string arch = "edge";
  std::string data = train::fashion_mnist_directory;
  train::RunOptions run;
  int workers = 0;  // 0: one, or as many as mpirun has started
  double learning_rate = -1;
  double weight_decay = -1;
  std::vector<std::uint32_t> record;
  std::string record_to = "train.safetensors";
  bool resume = false;
  std::string out;
  std::string plots;
  bool json = false;
};

void check_record(const TrainOptions& options, const train::Trainer& trainer) {
  for (const std::uint32_t step : options.record) {
    if (step >= trainer.next_step() && step < trainer.total_steps()) continue;
    throw std::invalid_argument(
        "--record " + std::to_string(step) + ": the run has steps " + std::to_string(trainer.next_step()) +
        ".." + std::to_string(trainer.total_steps() - 1) + (trainer.next_step() > 0 ? " to come" : ""));
  }
}

// A run of hours should not end at a directory that is not there.
void check_writable(const TrainOptions& options) {
  for (const std::string& path :
       {options.out, options.run.checkpoint, options.record.empty() ? "" : options.record_to}) {
    if (!path.empty()) const DraftFile probe(path);
  }
}

void check_files(const TrainOptions& options) {
  std::vector<NamedFile> outputs;
  const auto add = [&](const char* option, const std::filesystem::path& path) {
    if (!path.empty()) outputs.push_back({option, path});
  };
  add("--out", options.out);
  add("--checkpoint", options.run.checkpoint);
  if (!options.record.empty()) add("--record-to", options.record_to);
  if (!options.plots.empty()) {
    for (const char* name : {"curves.png", "curves.svg"})
      add("--plots", std::filesystem::path(options.plots) / name);
  }
  const auto config = [](ConfigKind kind, const std::string& name) -> std::filesystem::path {
    return is_config_path(name) ? std::filesystem::path(name) : shipped_config_path(kind, name);
  };
  std::vector<NamedFile> inputs = {{"--net", config(ConfigKind::network, options.network)},
                                   {"--recipe", config(ConfigKind::recipe, options.recipe)},
                                   {"--arch", config(ConfigKind::architecture, options.arch)}};
  for (const std::filesystem::path& file : train::fashion_mnist_files(options.data))
    inputs.push_back({"--data", file});
  refuse_same_files(outputs, inputs);
}

// What a run needs, read and checked.
struct Prepared {
  Loaded<Recipe> recipe;
  Loaded<Architecture> arch;
  Loaded<train::Network> network;
  train::RunOptions run;
  train::FashionMnist data;
  std::unique_ptr<train::Model> model;
  std::unique_ptr<train::Recorder> recorder;
  std::unique_ptr<train::Trainer> trainer;

  train::TrainReport complete(train::TrainReport report) const {
    report.version = MANTISSA_VERSION;
    report.network_hash = network.hash;
    report.recipe_hash = recipe.hash;
    report.arch = arch.value.name;
    return report;
  }
};

void check_options(const TrainOptions& options, const workers::Group& group) {
  check_files(options);
  if (options.workers > 0 && options.workers != group.size()) {
    throw std::invalid_argument("--workers " + std::to_string(options.workers) + ": mpirun has started " +
                                std::to_string(group.size()) + "; leave the option out");
  }
  if (options.resume && options.run.checkpoint.empty())
    throw std::invalid_argument("--resume needs --checkpoint FILE, the state to continue from");
  if (!options.plots.empty() && options.out.empty())
    throw std::invalid_argument("--plots needs --out FILE, the run to draw");
}

std::unique_ptr<Prepared> prepare(const TrainOptions& options, workers::Group& group) {
  check_options(options, group);
  auto prepared = std::make_unique<Prepared>();
  Prepared& all = *prepared;
  all.recipe = load_recipe(options.recipe);
  all.arch = load_architecture(options.arch);
  all.network = train::load_network(options.network);
  train::RunOptions& run = all.run;
  run = options.run;
  run.rows = all.arch.value.rows;
  run.cols = all.arch.value.cols;
  run.configuration = all.network.hash + " " + all.recipe.hash;
  run.training = all.network.value.training;
  if (options.learning_rate >= 0) run.training.learning_rate = options.learning_rate;
  if (options.weight_decay >= 0) run.training.weight_decay = options.weight_decay;
  if (group.leads()) {
    if (!options.plots.empty()) std::filesystem::create_directories(options.plots);
    check_writable(options);
  }
  all.data = train::load_fashion_mnist(options.data);

  all.model = std::make_unique<train::Model>(all.network.value, all.recipe.value, run.seed);
  if (!options.record.empty()) {
    trace::Run record;
    record.run_seed = run.seed;
    record.rows = run.rows;
    record.cols = run.cols;
    record.recipe = all.recipe.value.name;
    record.recipe_digest = recipe_digest(all.recipe.value);
    all.recorder = std::make_unique<train::Recorder>(options.record_to, options.record, record);
  }
  all.trainer = std::make_unique<train::Trainer>(*all.model, all.data, run, all.recorder.get(), &group);
  if (options.resume && std::filesystem::exists(run.checkpoint)) all.trainer->resume();
  check_record(options, *all.trainer);
  return prepared;
}

void run_prepared(const TrainOptions& options, const Prepared& prepared, bool speaks) {
  Progress progress;
  Output out = standard_output();
  train::Trainer& trainer = *prepared.trainer;
  const bool tells = speaks && !options.json;
  if (tells) out.text(train::train_heading(prepared.complete(trainer.report()))).flush();
  train::TrainReport report;
  try {
    report = prepared.complete(trainer.run(
        [&](std::int64_t done, std::int64_t total, const std::string& what) {
          if (speaks) progress.show(static_cast<std::size_t>(done), static_cast<std::size_t>(total), what);
        },
        [&](const train::TrainReport& so_far) {
          progress.clear();
          if (tells) out.text(train::epoch_line(so_far)).flush();
        }));
  } catch (const train::Diverged& diverged) {
    progress.clear();
    if (speaks) out.text(std::string("DIVERGED: ") + diverged.what() + "\n").flush();
    throw ChecksFailed{};
  }
  progress.clear();
  if (!speaks) return;
  const std::string json = train::train_json(report);
  if (!options.out.empty()) {
    DraftFile file(options.out);
    file.out().text(json);
    file.publish();
  }
  out.text(options.json ? json : train::train_summary(report)).flush();
  if (options.plots.empty()) return;
  for (const std::string& note : draw_plots(options.out, options.plots)) tell_user("note: " + note);
}

void run_train(const TrainOptions& options) {
  if (workers::started_by_mpirun()) {
    run_together([&](workers::Group& group) { return prepare(options, group); },
                 [&](const std::unique_ptr<Prepared>& prepared, bool leads) {
                   run_prepared(options, *prepared, leads);
                 });
    return;
  }
  workers::LocalGroup group(std::max(1, options.workers));
  run_prepared(options, *prepare(options, group), true);
}

}  // namespace

void add_train(CLI::App& program) {
  auto options = std::make_shared<TrainOptions>();
  options->run.threads =
      std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / workers::processes_here());
  CLI::App* command =
      program.add_subcommand("train", "Train a network on Fashion-MNIST with the hardware's own arithmetic");
  command
      ->add_option("--recipe", options->recipe, "number formats and methods: a shipped name or a YAML file")
      ->capture_default_str();
  command->add_option("--net", options->network, "mlp, lenet, resnet8 or a YAML file")->capture_default_str();
  command
      ->add_option("--arch", options->arch, "its array shape determines the random number each element draws")
      ->capture_default_str();
  command->add_option("--epochs", options->run.epochs, "how often the whole training set is seen")
      ->transform(whole_number<std::int64_t>(1, 100000))
      ->capture_default_str();
  command->add_option("--batch", options->run.batch, "images per step of each worker")
      ->transform(whole_number<std::int64_t>(1, 65536))
      ->capture_default_str();
  command
      ->add_option(
          "--workers", options->workers,
          "workers that train together in this process (default 1); under mpirun every process is one")
      ->transform(whole_number<int>(1, 1024));
  command->add_option("--images", options->run.images, "train on the first N images (0 = all)")
      ->transform(whole_number<std::int64_t>(0, 60000))
      ->capture_default_str();
  command->add_option("--seed", options->run.seed, "seed of weights, image order and stochastic rounding")
      ->transform(whole_number())
      ->capture_default_str();
  command->add_option("--threads", options->run.threads, "number of threads; results do not depend on it")
      ->transform(whole_number<int>(1, 1024))
      ->capture_default_str();
  command->add_option("--lr", options->learning_rate, "peak learning rate (overrides the network's)")
      ->transform(real_number(0, 1000));
  command->add_option("--weight-decay", options->weight_decay, "weight decay (overrides the network's)")
      ->transform(real_number(0, 1));
  command->add_option("--data", options->data, "directory with the four gzipped files of Fashion-MNIST")
      ->capture_default_str();
  add_numbers<std::uint32_t>(*command, "--record", options->record, 0,
                             std::numeric_limits<std::uint32_t>::max(),
                             "record these steps, counted from 0, in a trace");
  command->add_option("--record-to", options->record_to, "file for that trace")->capture_default_str();
  command->add_option("--checkpoint", options->run.checkpoint, "file for the state of the run")
      ->type_name("FILE");
  command->add_option("--checkpoint-steps", options->run.checkpoint_steps, "steps between two checkpoints")
      ->transform(whole_number<std::int64_t>(1, std::int64_t{1} << 40))
      ->capture_default_str();
  command->add_flag("--resume", options->resume,
                    "continue from the checkpoint if it exists; the bits are those of an uninterrupted run");
  command->add_option("--out", options->out, "also write the run as JSON to this file")->type_name("FILE");
  command->add_option("--plots", options->plots, "draw curves.png and curves.svg from the --out file")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "write the whole run as JSON to standard output");
  command->footer(
      "The data set comes from the Debian package dataset-fashion-mnist. A run that diverges stops, reports\n"
      "the first layer and tensor with an Inf or NaN, and exits with code 1.\n"
      "Examples:\n"
      "  mantissa train --net mlp --epochs 3\n"
      "  mantissa train --recipe int8-rangebn --net resnet8 --epochs 10 --out int8.json --plots .\n"
      "  mantissa train --net resnet8 --checkpoint run.safetensors --resume\n"
      "  mantissa train --recipe dgc --net resnet8 --workers 4 --batch 32\n"
      "  mpirun -n 4 mantissa train --recipe dgc --net resnet8 --batch 32\n"
      "  mantissa train --recipe lognormal-sparse --net lenet --epochs 1 --record 100,400 --record-to "
      "t.safetensors\n"
      "  mantissa replay t.safetensors --recipe lognormal-sparse");
  command->callback([options] { run_train(*options); });
}

}  // namespace mantissa::cli
