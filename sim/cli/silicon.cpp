// `mantissa silicon`: dot products that a device computed against every accumulator preset, and operands to
// measure with.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "models/mac/accumulator_preset.hpp"
#include "models/mac/fp8_mul.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/options.hpp"
#include "sim/silicon/accumulator_match.hpp"
#include "sim/silicon/worthwhile_dots.hpp"
#include "sim/support/text_table.hpp"

namespace mantissa::cli {
namespace {

using silicon::Match;
using silicon::MeasuredDots;
using silicon::Start;

struct CheckOptions {
  std::vector<std::string> files;
  std::string a = "e4m3";
  std::string b = "e4m3";
  std::string preset;
  std::size_t first = 3;
};

struct WriteOptions {
  std::string a = "e4m3";
  std::string b = "e4m3";
  std::uint64_t count = 1000;
  std::size_t k = 32;
  std::uint64_t seed = 1;
};

int threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

const char* start_text(Start start) { return start == Start::given ? "given" : "zero"; }

std::string table_of(const std::vector<Match>& matches, const Match& best) {
  TextTable table({{"Preset", TextTable::Align::left},
                   {"Start", TextTable::Align::left},
                   {"Equal"},
                   {"Different"},
                   {"", TextTable::Align::left}});
  for (const Match& match : matches) {
    const char* mark = match.different.empty() ? "<-- all" : &match == &best ? "<-- nearest" : "";
    table.row({match.candidate.name, start_text(match.candidate.start), std::to_string(match.equal),
               std::to_string(match.different.size()), mark});
  }
  return table.text();
}

std::string differences_text(const MeasuredDots& dots, const Match& match, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, match.different.size()); ++i) {
    const std::size_t index = match.different[i];
    const std::vector<std::uint32_t> steps = silicon::computed_steps(dots, index, match.candidate);
    text += fmt::format("  line {}: the device has {:08x} = {:.9g}, {} has {:08x} = {:.9g}\n",
                        dots.line[index], dots.result[index], fp32_value(dots.result[index]),
                        match.candidate.name, steps.back(), fp32_value(steps.back()));
    if (steps.size() > 1) {
      text += "    after each rounding:";
      constexpr std::size_t shown = 8;
      const std::size_t skipped = steps.size() > shown ? steps.size() - shown : 0;
      if (skipped != 0) text += fmt::format(" ({} before)", skipped);
      for (std::size_t step = skipped; step < steps.size(); ++step)
        text += fmt::format(" {:08x}", steps[step]);
      text += "\n";
    }
  }
  return text;
}

std::string variations_text(const MeasuredDots& dots, const Match& match) {
  TextTable table(
      {{"One parameter changed", TextTable::Align::left}, {"Different"}, {"", TextTable::Align::left}});
  for (const silicon::Candidate& variation : silicon::variations(match.candidate)) {
    const Match other = silicon::match(dots, variation, threads());
    const bool explains = other.different.empty() && !match.different.empty();
    table.row({variation.name, std::to_string(other.different.size()), explains ? "<-- explains all" : ""});
  }
  return table.text(2);
}

// Whether some preset gives every result.
bool check_file(const CheckOptions& options, const std::string& path) {
  const Format a = Format::parse(options.a);
  const Format b = Format::parse(options.b);
  check_exact_product(a, b);
  const MeasuredDots dots = silicon::read_measured_dots(path, a, b);
  std::vector<Match> matches;
  for (const silicon::Candidate& candidate : silicon::candidates(dots, options.preset))
    matches.push_back(silicon::match(dots, candidate, threads()));
  const Match& best = *std::max_element(matches.begin(), matches.end(),
                                        [](const Match& x, const Match& y) { return x.equal < y.equal; });
  const AccumulatorPreset& preset = accumulator_preset(best.candidate.name);
  std::string text = fmt::format("{}: {} dot products of {}, {} x {}\n\n{}\n", path, dots.size(), dots.k,
                                 a.name(), b.name(), table_of(matches, best));
  if (best.different.empty()) {
    text += fmt::format("{} gives every result ({}).\n", preset.name, preset.what);
    const bool others = std::count_if(matches.begin(), matches.end(),
                                      [](const Match& match) { return match.different.empty(); }) > 1;
    if (others) text += "These operands do not tell it from the others that are marked.\n";
  } else {
    text += fmt::format("No preset gives every result. The nearest is {} ({}); where it differs first:\n{}",
                        preset.name, preset.what, differences_text(dots, best, options.first));
  }
  text += "\n" + variations_text(dots, best);
  standard_output().text(text).flush();
  return best.different.empty();
}

void run_check(const CheckOptions& options) {
  if (!options.preset.empty()) accumulator_preset(options.preset);
  bool all = true;
  for (const std::string& path : options.files) {
    if (&path != &options.files.front()) standard_output().text("\n").flush();
    all &= check_file(options, path);
  }
  if (!all) throw ChecksFailed();
}

void run_write(const WriteOptions& options) {
  const Format a = Format::parse(options.a);
  const Format b = Format::parse(options.b);
  check_exact_product(a, b);
  Output out = standard_stream();
  out.text(fmt::format(
      "# {} dot products of {}, {} x {}, seed {}: codes of a, codes of b, start value (FP32 bits)\n"
      "# Append to each line what the device computes, as FP32 bits.\n",
      options.count, options.k, a.name(), b.name(), options.seed));
  for (std::uint64_t i = 0; i < options.count; ++i) {
    const silicon::WorthwhileDot dot = silicon::worthwhile_dot(a, b, options.k, options.seed, i);
    for (const std::uint8_t code : dot.a) out.hex(code, 2);
    out.text(" ");
    for (const std::uint8_t code : dot.b) out.hex(code, 2);
    out.text(" ").hex(dot.start, 8).text("\n");
  }
  out.flush();
}

void add_check(CLI::App& silicon) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = silicon.add_subcommand("check", "Which preset gives the results that a device gave");
  command->add_option("FILE", options->files, "measurements, one per line")->required();
  command->add_option("--a", options->a, "format of a, at most 8 bits")->capture_default_str();
  command->add_option("--b", options->b, "format of b, at most 8 bits")->capture_default_str();
  command->add_option("--preset", options->preset, "only this one: " + accumulator_preset_names());
  command->add_option("--first", options->first, "number of differences to show")
      ->capture_default_str()
      ->transform(whole_number<std::size_t>(0, 1000));
  command->footer(
      "A line has four words in hex: the codes of a, two digits each; those of b; the start value and the\n"
      "result as FP32 bits. What follows # is a comment. Presets are tried with the start value and, since\n"
      "some instructions have none, without. The exit code is 1 unless a preset gives every result of every\n"
      "file. models/SILICON.md tells how to measure.\n"
      "Example:\n"
      "  mantissa silicon check h100.txt\n"
      "  mantissa silicon check --a e5m2 --b e5m2 --preset hopper mine.txt");
  command->callback([options] { run_check(*options); });
}

void add_write(CLI::App& silicon) {
  auto options = std::make_shared<WriteOptions>();
  CLI::App* command = silicon.add_subcommand("write", "Operands that are worth measuring");
  command->add_option("--a", options->a, "format of a, at most 8 bits")->capture_default_str();
  command->add_option("--b", options->b, "format of b, at most 8 bits")->capture_default_str();
  command->add_option("--count", options->count, "number of dot products")
      ->capture_default_str()
      ->transform(whole_number<std::uint64_t>(1, 1000000000));
  command->add_option("--k", options->k, "products of each")
      ->capture_default_str()
      ->transform(whole_number<std::size_t>(1, 65536));
  command->add_option("--seed", options->seed, "seed of the operands")
      ->capture_default_str()
      ->transform(whole_number());
  command->footer(
      "In turn: ordinary numbers; one large product beside small ones, whose last bits a device may drop;\n"
      "sums that cancel; subnormal numbers; sums that overflow narrow accumulators. All are finite.\n"
      "Example:\n"
      "  mantissa silicon write --count 5000 > operands.txt");
  command->callback([options] { run_write(*options); });
}

}  // namespace

void add_silicon(CLI::App& program) {
  CLI::App* silicon =
      program.add_subcommand("silicon", "Compare dot products measured on a tensor core with every preset");
  silicon->require_subcommand(1);
  add_check(*silicon);
  add_write(*silicon);
}

}  // namespace mantissa::cli
