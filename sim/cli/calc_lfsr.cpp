// `mantissa calc lfsr`: the states of the one random generator, draw by draw.
#include <memory>
#include <string>

#include "models/random/lfsr.hpp"
#include "sim/cli/calc.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/operands.hpp"
#include "sim/cli/options.hpp"

namespace mantissa::cli {
namespace {

struct LfsrOptions {
  std::string seed;
  int leap = Lfsr::default_leap;
  std::uint64_t count = 1;
  std::uint64_t skip = 0;
  bool json = false;
};

void print_states(const LfsrOptions& options) {
  Lfsr lfsr(parse_hex(options.seed, {"--seed", "a 32-bit seed", 0xFFFFFFFF}), options.leap);
  warn_of_short_period(options.leap);
  lfsr.skip(options.skip);
  Output out = standard_stream();
  for (std::uint64_t i = 0; i < options.count; ++i) {
    const std::uint32_t state = lfsr.draw();
    if (options.json) {
      out.text(R"({"state":")").hex(state, 8).text("\"}\n");
    } else {
      out.hex(state, 8).text("\n");
    }
  }
  out.flush();
}

}  // namespace

void add_lfsr(CLI::App& calc) {
  auto options = std::make_shared<LfsrOptions>();
  CLI::App* op = calc.add_subcommand("lfsr", "States of the random generator after each draw (no input)");
  op->add_option("--seed", options->seed, "starting state, hex, not 0")->required();
  op->add_option("--leap", options->leap, "steps per draw, 1..32")
      ->transform(whole_number(1, 32))
      ->capture_default_str();
  op->add_option("--count", options->count, "number of draws")
      ->transform(whole_number())
      ->capture_default_str();
  op->add_option("--skip", options->skip, "number of draws to skip first, at no cost")
      ->transform(whole_number())
      ->capture_default_str();
  op->add_flag("--json", options->json, "one JSON object per line");
  op->footer(
      "Draw n, from 0, is the state after (n+1)*leap steps; a random number of r bits is its low r bits.\n"
      "Examples:\n"
      "  mantissa calc lfsr --seed 38fcbe91 --count 3\n"
      "  mantissa calc lfsr --seed 1 --leap 1 --count 1                                # 80200003\n"
      "  mantissa calc lfsr --seed 1 --skip 1000000000000 --count 1");
  op->callback([options] { print_states(*options); });
}

}  // namespace mantissa::cli
