// `mantissa calc dot`: one dot product per line, in any accumulator.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/accumulator_preset.hpp"
#include "models/mac/dot.hpp"
#include "models/mac/fp8_mul.hpp"
#include "sim/cli/calc.hpp"
#include "sim/cli/calc_loop.hpp"
#include "sim/cli/options.hpp"

namespace mantissa::cli {
namespace {

struct DotOptions {
  std::string a = "e5m2";
  std::string b = "e5m2";
  std::string acc = "fp32";
  std::string kind = "plain";
  std::string round = "rne";
  std::string inner;        // empty: plain
  std::string inner_acc;    // empty: as --acc
  std::string inner_round;  // empty: as --round
  std::string order = "ascending";
  std::string preset;
  std::string seed = "1";
  std::string inner_seed = "2";
  int leap = Lfsr::default_leap;
  bool json = false;
};

Accumulator accumulator_of(const DotOptions& options) {
  if (!options.preset.empty()) return accumulator_preset(options.preset).accumulator;
  Accumulator how =
      Accumulator::parse(options.kind, Format::parse(options.acc), Rounding::parse(options.round));
  const bool inner = !options.inner.empty() || !options.inner_acc.empty() || !options.inner_round.empty();
  if (inner && how.kind != Accumulator::Kind::chunk)
    throw std::invalid_argument("--inner, --inner-acc and --inner-round belong to --kind chunk:G");
  if (!options.inner.empty()) how.inner = Accumulator::parse_inner(options.inner);
  if (how.inner && !options.inner_round.empty())
    throw std::invalid_argument("--inner-round is not for an aligned --inner; write aligned:G,b,rne");
  if (!options.inner_acc.empty()) how.inner_format = Format::parse(options.inner_acc);
  if (!options.inner_round.empty()) how.inner_rounding = Rounding::parse(options.inner_round);
  how.order = parse_order(options.order);
  how.check();
  for (const Rounding& rounding : {how.rounding, how.inner_rounding}) {
    if (how.stochastic() && rounding.stochastic()) check_leap(options.leap, rounding.random_bits);
  }
  return how;
}

Lfsr generator(const std::string& seed, const char* option, int leap) {
  return Lfsr(parse_hex(seed, {option, "a 32-bit seed", 0xFFFFFFFF}), leap);
}

class DotLine {
 public:
  explicit DotLine(const DotOptions& options)
      : a_(Format::parse(options.a)),
        b_(Format::parse(options.b)),
        how_(accumulator_of(options)),
        draws_{generator(options.inner_seed, "--inner-seed", options.leap),
               generator(options.seed, "--seed", options.leap)} {
    check_exact_product(a_, b_);
  }

  const Format& result() const { return how_.format; }

  std::optional<Rounded> operator()(std::string_view line) {
    split_words(line, words_);
    if (words_.empty()) return std::nullopt;
    const std::size_t k = words_.size() / 2;
    if (k == 0 || k > Accumulator::max_k) {
      throw std::invalid_argument(std::to_string(words_.size()) +
                                  (words_.size() == 1 ? " operand" : " operands") +
                                  " where 2K or 2K+1 are needed: K codes of a, K codes of b, and optionally "
                                  "the initial acc; K is at least 1");
    }
    Flags flags;
    terms_.resize(k);
    for (std::size_t i = 0; i < k; ++i)
      terms_[i] = dot_term(code(i, "a", a_), a_, code(k + i, "b", b_), b_, flags);
    std::uint32_t start = 0;
    if (words_.size() % 2 != 0) {
      // A NaN enters as the canonical one.
      const std::uint32_t given = parse_hex(words_.back(), OperandField::code("acc", how_.format));
      const Rounded entered = convert(given, {.from = how_.format, .to = how_.format});
      start = entered.code;
      flags |= entered.flags;
    }
    DotDraws draws = draws_;
    Rounded result = dot(terms_, how_, draws, start);
    result.flags |= flags;
    return result;
  }

 private:
  std::uint32_t code(std::size_t word, const char* name, const Format& format) const {
    return parse_hex(words_[word], OperandField::code(name, format));
  }

  Format a_;
  Format b_;
  Accumulator how_;
  DotDraws draws_;  // as every line begins
  std::vector<std::string_view> words_;
  std::vector<DotTerm> terms_;
};

}  // namespace

void add_dot(CLI::App& calc) {
  auto options = std::make_shared<DotOptions>();
  CLI::App* op = calc.add_subcommand("dot", "Dot product in any accumulator (a1 .. aK b1 .. bK [acc])");
  op->add_option("--a", options->a, "format of a, at most 8 bits")->capture_default_str();
  op->add_option("--b", options->b, "format of b, at most 8 bits")->capture_default_str();
  op->add_option("--acc", options->acc, "format of the accumulator, within fp32")->capture_default_str();
  CLI::Option* preset =
      op->add_option("--preset", options->preset,
                     "that of a device, in place of its options: " + accumulator_preset_names());
  op->add_option("--kind", options->kind, "plain, chunk:G, fused:G, aligned:G,b, aligned:G,b,rne or kulisch")
      ->capture_default_str();
  op->add_option("--round", options->round, rounding_names() + "; aligned truncates")->capture_default_str();
  op->add_option("--inner", options->inner, "inside a chunk: plain, aligned:H,b or aligned:H,b,rne");
  op->add_option("--inner-acc", options->inner_acc, "format inside a chunk, if different");
  op->add_option("--inner-round", options->inner_round, "rounding inside a chunk, if different");
  op->add_option("--order", options->order,
                 "in which order an aligned --inner gets the products of a chunk: ascending or pairs")
      ->capture_default_str();
  for (const char* other :
       {"--acc", "--kind", "--round", "--inner", "--inner-acc", "--inner-round", "--order"})
    preset->excludes(op->get_option(other));
  op->add_option("--seed", options->seed, "initial state of the generator for sr on every line, hex, not 0")
      ->capture_default_str();
  op->add_option("--inner-seed", options->inner_seed, "the same for roundings inside chunks")
      ->capture_default_str();
  op->add_option("--leap", options->leap, "steps per draw, 1..32")
      ->transform(whole_number(1, 32))
      ->capture_default_str();
  op->add_flag("--json", options->json, "one JSON object per line");
  op->footer(
      "The result is one output of a GEMM that starts from +0, or from acc, a code of the accumulator.\n"
      "Flags are those of all steps. K follows from the number of operands. The examples compute 256 + 1 +\n"
      "1 + 1 in BF16, where neighbouring numbers are 2 apart, and 1 + 2.\n"
      "Examples:\n"
      "  echo 5c 3c 3c 3c 3c 3c 3c 3c | mantissa calc dot --acc bf16                   # 4380 x\n"
      "  echo 5c 3c 3c 3c 3c 3c 3c 3c | mantissa calc dot --acc bf16 --kind fused:2    # 4381 x\n"
      "  echo 5c 3c 3c 3c 3c 3c 3c 3c | mantissa calc dot --acc bf16 --kind kulisch    # 4382 x\n"
      "  echo 5c 3c 3c 3c 3c 3c 3c 3c | mantissa calc dot --preset hopper              # 10e060 -\n"
      "  echo 3c 3c 40000000 | mantissa calc dot                                       # 40400000 -");
  op->callback([options] {
    DotLine line(*options);
    calculate_lines({line.result(), options->json}, [&line](std::string_view text) { return line(text); });
  });
}

}  // namespace mantissa::cli
