// `mantissa trace synth` and `mantissa trace import`: traces of given shapes with made-up numbers.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sim/cli/options.hpp"
#include "sim/cli/progress.hpp"
#include "sim/cli/same_file.hpp"
#include "sim/cli/trace_commands.hpp"
#include "sim/support/output.hpp"
#include "sim/trace/scalesim_topology.hpp"
#include "sim/trace/synthetic.hpp"

namespace mantissa::cli {
namespace {

constexpr std::int64_t most_images = 4096;
constexpr std::int64_t largest_width = 65536;
// Of a transformer.
constexpr std::int64_t usual_tokens = 128;
constexpr std::int64_t usual_width = 512;

// What both commands take.
struct NumberOptions {
  trace::SyntheticNumbers numbers;
  std::string dtype = "F32";
  std::string path;
  std::int64_t batch = 1;
};

struct SynthOptions : NumberOptions {
  std::string net;
  std::string image;
  std::vector<std::int64_t> widths;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> width;
};

struct ImportOptions : NumberOptions {
  std::string csv;
};

void add_number_options(CLI::App& command, NumberOptions& options) {
  trace::SyntheticNumbers& numbers = options.numbers;
  command.add_option("--out", options.path, "the trace to write")->type_name("FILE")->required();
  command
      .add_option("--sparsity", numbers.sparsity, "share of zeros after a ReLU, and in gradients through it")
      ->transform(real_number(0, 1))
      ->capture_default_str();
  command
      .add_option("--gradient-sparsity", numbers.gradient_sparsity,
                  "share of zeros in every gradient, with or without ReLU")
      ->transform(real_number(0, 1));
  command
      .add_option(
          "--mu", numbers.mu,
          "mean of ln|gradient| in all layers (default: -9 - ln(images) - ln(places in an image) / 2)")
      ->transform(real_number(-60, 20));
  command.add_option("--sigma", numbers.sigma, "standard deviation of ln|gradient|")
      ->transform(real_number(0, 8))
      ->capture_default_str();
  command.add_option("--seed", numbers.seed, "seed of all numbers")
      ->transform(whole_number())
      ->capture_default_str();
  command.add_option("--dtype", options.dtype, "element type: F32, F16, BF16, F8_E5M2 or F8_E4M3")
      ->capture_default_str();
}

std::int64_t image_size(const std::string& text, const std::string& all) {
  constexpr std::int64_t smallest = 8;
  constexpr std::int64_t largest = 2048;
  std::int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size() || size < smallest || size > largest) {
    throw std::invalid_argument("--image " + in_quotes(all) +
                                " is not HEIGHTxWIDTH with both in 8..2048, such as 224x224");
  }
  return size;
}

// A single number stands for a square.
std::pair<std::int64_t, std::int64_t> image_of(const std::string& text) {
  const std::size_t cross = text.find('x');
  return {image_size(text.substr(0, cross), text),
          image_size(cross == std::string::npos ? text : text.substr(cross + 1), text)};
}

trace::Network network_of(const SynthOptions& options) {
  const bool resnet = options.net == "resnet18" || options.net == "resnet50";
  const auto refuse = [&](bool given, const char* option, const char* owner) {
    if (!given) return;
    throw std::invalid_argument(std::string(option) + " is an option of " + owner + ", not of " +
                                in_quotes(options.net));
  };
  refuse(!resnet && !options.image.empty(), "--image", "resnet18 and resnet50");
  refuse(options.net != "mlp" && !options.widths.empty(), "--widths", "mlp");
  refuse(options.net != "transformer" && options.tokens, "--tokens", "transformer");
  refuse(options.net != "transformer" && options.width, "--width", "transformer");
  if (resnet) {
    const auto [height, width] = image_of(options.image.empty() ? "224x224" : options.image);
    return options.net == "resnet18" ? trace::resnet18(options.batch, height, width)
                                     : trace::resnet50(options.batch, height, width);
  }
  if (options.net == "mlp") {
    if (options.widths.empty()) return trace::mlp(options.batch, {784, 512, 512, 10});
    return trace::mlp(options.batch, options.widths);
  }
  if (options.net == "transformer") {
    return trace::transformer_block(options.batch, options.tokens.value_or(usual_tokens),
                                    options.width.value_or(usual_width));
  }
  throw std::invalid_argument("no network " + in_quotes(options.net) +
                              "; allowed: resnet18, resnet50, mlp, transformer");
}

// A ResNet and an MLP are all layers; a transformer block also multiplies what has no weights.
trace::SyntheticJob::Beyond beyond_layers(const SynthOptions& options) {
  if (options.net != "transformer") return {};
  return {trace::attention_macs(options.batch, options.tokens.value_or(usual_tokens),
                                options.width.value_or(usual_width)),
          {"the products of queries with keys and of scores with values have no weights and are not layers"}};
}

void write(const NumberOptions& options, trace::Network network, const std::string& what,
           std::optional<trace::SyntheticJob::Beyond> beyond) {
  Progress progress;
  trace::SyntheticJob job;
  job.path = options.path;
  job.network = std::move(network);
  job.numbers = options.numbers;
  job.dtype = trace::parse_dtype(options.dtype);
  job.origin =
      "mantissa " MANTISSA_VERSION ": " + what + ", synthetic, seed " + std::to_string(options.numbers.seed);
  job.beyond = std::move(beyond);
  job.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  job.progress = [&](std::uint64_t done, std::uint64_t total, const std::string& tensor) {
    progress.show(done, total, tensor);
  };
  const trace::SyntheticSummary summary = trace::write_synthetic(job);
  progress.clear();
  char text[200];
  std::snprintf(text, sizeof text, "%zu layers with %llu parameters, %zu tensors, %.1f MB\n",
                job.network.size(), static_cast<unsigned long long>(trace::parameter_count(job.network)),
                summary.tensors, static_cast<double>(std::filesystem::file_size(options.path)) / 1e6);
  standard_output().text(options.path + ": " + what + ": " + text).flush();
}

}  // namespace

void add_trace_synth(CLI::App& trace) {
  auto options = std::make_shared<SynthOptions>();
  CLI::App* command = trace.add_subcommand("synth", "Make a synthetic trace of a known network's shapes");
  command->add_option("--net", options->net, "resnet18, resnet50, mlp or transformer")->required();
  command->add_option("--batch", options->batch, "images (mlp, resnet) or sequences (transformer)")
      ->transform(whole_number(std::int64_t{1}, most_images))
      ->capture_default_str();
  command->add_option("--image", options->image, "input of a resnet (default 224x224)")->type_name("HxW");
  add_numbers<std::int64_t>(*command, "--widths", options->widths, 1, largest_width,
                            "an mlp's input and layers (default 784,512,512,10)");
  command->add_option("--tokens", options->tokens, "tokens in a transformer's sequence (default 128)")
      ->transform(whole_number(std::int64_t{1}, largest_width));
  command->add_option("--width", options->width, "width of a transformer (default 512)")
      ->transform(whole_number(std::int64_t{1}, largest_width));
  add_number_options(*command, *options);
  command->footer(
      "Shapes are those of the real network, batch norms and downsampling included. Numbers are synthetic:\n"
      "normal images, half-normal activations with zeros after a ReLU, weights after He, gradients with\n"
      "lognormal magnitudes; gradients that come through a ReLU have its zeros. The first layer computes no\n"
      "input gradient. A transformer is one block: q, k, v, o and two MLP layers; the products of attention\n"
      "scores have no weights and are not layers here. The same seed gives the same file.\n"
      "Examples:\n"
      "  mantissa trace synth --net resnet18 --batch 4 --out resnet18.safetensors\n"
      "  mantissa trace synth --net mlp --widths 784,1024,10 --batch 64 --dtype BF16 --out mlp.safetensors\n"
      "  mantissa trace synth --net transformer --batch 2 --gradient-sparsity 0.85 --out block.safetensors");
  command->callback([options] {
    const std::string what = options->net + ", batch " + std::to_string(options->batch);
    write(*options, network_of(*options), what, beyond_layers(*options));
  });
}

void add_trace_import(CLI::App& trace) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* command = trace.add_subcommand("import", "Make a synthetic trace of a SCALE-Sim topology");
  command->add_option("CSV", options->csv, "the topology")->required();
  command->add_option("--batch", options->batch, "images; a GEMM topology has its batch in M")
      ->transform(whole_number(std::int64_t{1}, most_images))
      ->capture_default_str();
  add_number_options(*command, *options);
  command->footer(
      "After a heading line, one layer per line: Layer name, IFMAP Height, IFMAP Width, Filter Height,\n"
      "Filter Width, Channels, Num Filter, Strides, (convolutions, without padding) or Layer, M, N, K,\n"
      "(GEMMs). Numbers are made as in mantissa trace synth; inputs are treated as outputs of a ReLU,\n"
      "except those of the first layer, which computes no input gradient.\n"
      "Examples:\n"
      "  mantissa trace import Resnet18.csv --batch 4 --out resnet18.safetensors\n"
      "  mantissa trace import gemms.csv --gradient-sparsity 0.85 --out gemms.safetensors");
  command->callback([options] {
    refuse_same_files({{"--out", options->path}}, {{"the topology", options->csv}});
    const std::string file = std::filesystem::path(options->csv).filename().string();
    write(*options, trace::read_scalesim_topology(std::filesystem::path(options->csv), options->batch),
          "topology " + file, std::nullopt);
  });
}

}  // namespace mantissa::cli
