// `mantissa calc prune`: the stochastic pruner on one gradient per line.
#include <memory>
#include <string>

#include "models/sparsity/pruner.hpp"
#include "sim/cli/calc.hpp"
#include "sim/cli/calc_loop.hpp"
#include "sim/cli/options.hpp"

namespace mantissa::cli {

void add_prune(CLI::App& calc) {
  struct Options {
    std::string format = "fp32";
    int bits = 16;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* op = calc.add_subcommand("prune", "Stochastic pruner: g, or sign(g)*tau, or +0 (g tau R)");
  op->add_option("--format", options->format, "format of g, tau and the result")->capture_default_str();
  op->add_option("--bits", options->bits, "random bits r: R is below 2^r, 1..32")
      ->transform(whole_number(1, 32))
      ->capture_default_str();
  op->add_flag("--json", options->json, "one JSON object per line");
  op->footer(
      "Examples:\n"
      "  echo 40000000 3f800000 0000 | mantissa calc prune                             # 40000000 -\n"
      "  echo bf000000 3f800000 8000 | mantissa calc prune                             # bf800000 -\n"
      "  echo 38 3c f | mantissa calc prune --format e5m2 --bits 4                     # 3c -");
  op->callback([options] {
    Pruner pruner{.format = Format::parse(options->format), .random_bits = options->bits};
    pruner.check();
    const Rounding random = Rounding::sr(options->bits);
    calculate_lines(
        {{OperandField::code("g", pruner.format), OperandField::code("tau", pruner.format),
          OperandField::random(std::to_string(options->bits) + " random bits", random.random_mask())},
         pruner.format,
         options->json},
        [pruner](std::span<const std::uint32_t> in) mutable {
          pruner.tau = in[1];
          pruner.check();
          return Rounded{prune(in[0], pruner, in[2]).code, {}};
        });
  });
}

}  // namespace mantissa::cli
