// `mantissa calc OP`: one arithmetic operation per line of standard input.
#include "sim/cli/calc.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/mac/arithmetic.hpp"
#include "models/mac/fp8_mac.hpp"
#include "sim/cli/calc_loop.hpp"
#include "sim/cli/commands.hpp"
#include "sim/cli/options.hpp"

namespace mantissa::cli {
namespace {

using Operands = std::span<const std::uint32_t>;

// Options of every operation that rounds.
struct RoundingOptions {
  std::string round = "rne";
  std::string overflow = "ieee";
  std::string flush = "none";
  bool json = false;

  void add_to(CLI::App& op) {
    op.add_option("--round", round, rounding_names() + " (sr: stochastic with r random bits; adds operand R)")
        ->capture_default_str();
    op.add_option("--overflow", overflow, "ieee or saturate")->capture_default_str();
    op.add_option("--flush", flush, "subnormals to zero: none, input, output or both")->capture_default_str();
    op.add_flag("--json", json, "one JSON object per line");
  }
};

// R is the last operand where the rounding takes one.
std::uint32_t random_operand(Operands operands, Rounding rounding) {
  return rounding.stochastic() ? operands.back() : 0;
}

}  // namespace

void add_convert(CLI::App& calc) {
  struct Options {
    std::string from = "fp32";
    std::string to = "e5m2";
    std::string via = "none";
    int scale = 0;
    RoundingOptions rounding;
  };
  auto options = std::make_shared<Options>();
  CLI::App* op = calc.add_subcommand("convert", "Convert a code from one format to another (operand [R])");
  op->add_option("--from", options->from, "format of the operand")->capture_default_str();
  op->add_option("--to", options->to, "format of the result")->capture_default_str();
  op->add_option("--scale", options->scale, "multiply by 2^scale first, -128..127")
      ->transform(whole_number(-128, 127))
      ->capture_default_str();
  op->add_option("--via", options->via, "none, or fp16: round to FP16 first, as published E5M2 software does")
      ->capture_default_str();
  options->rounding.add_to(*op);
  op->footer(
      "Examples:\n"
      "  echo 3f900001 | mantissa calc convert --from fp32 --to e5m2                   # 3d x\n"
      "  echo 3f900001 | mantissa calc convert --to e5m2 --via fp16                    # 3c x\n"
      "  echo 3f900001 e0 | mantissa calc convert --to e5m2 --round sr:8               # 3d x\n"
      "  echo 47800000 | mantissa calc convert --to e4m3 --overflow saturate           # 7e ox");
  op->callback([options] {
    if (options->via != "none" && options->via != "fp16") {
      throw std::invalid_argument("unknown intermediate format " + in_quotes(options->via) +
                                  " for --via; allowed: none, fp16");
    }
    const Conversion how{.from = Format::parse(options->from),
                         .to = Format::parse(options->to),
                         .rounding = Rounding::parse(options->rounding.round),
                         .overflow = parse_overflow(options->rounding.overflow),
                         .flush = parse_flush(options->rounding.flush),
                         .via_fp16 = options->via == "fp16",
                         .scale = options->scale};
    calculate_lines(
        {with_random({OperandField::code("x", how.from)}, how.rounding), how.to, options->rounding.json},
        [how](Operands in) { return convert(in[0], how, random_operand(in, how.rounding)); });
  });
}

void add_mac(CLI::App& calc) {
  struct Options {
    std::string a = "e5m2";
    std::string b = "e5m2";
    std::string acc = "fp32";
    std::string round = "rne";
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* op = calc.add_subcommand(
      "mac", "Multiply-accumulate of the fp8_mac unit: acc + a*b, one rounding (a b acc [R])");
  op->add_option("--a", options->a, "format of a, at most 8 bits")->capture_default_str();
  op->add_option("--b", options->b, "format of b, at most 8 bits")->capture_default_str();
  op->add_option("--acc", options->acc, "format of the accumulator")->capture_default_str();
  op->add_option("--round", options->round, rounding_names() + " (sr adds operand R)")->capture_default_str();
  op->add_flag("--json", options->json, "one JSON object per line");
  op->footer(
      "Examples:\n"
      "  echo 3c 38 3f800000 | mantissa calc mac --a e5m2 --b e4m3                     # 40000000 -\n"
      "  echo 3c 3c 0000 ff | mantissa calc mac --acc fp16 --round sr:8                # 3c00 -");
  op->callback([options] {
    const MacConfig config{.a = Format::parse(options->a),
                           .b = Format::parse(options->b),
                           .acc = Format::parse(options->acc),
                           .rounding = Rounding::parse(options->round)};
    check_exact_product(config.a, config.b);
    calculate_lines({with_random({OperandField::code("a", config.a), OperandField::code("b", config.b),
                                  OperandField::code("acc", config.acc)},
                                 config.rounding),
                     config.acc, options->json},
                    [config](Operands in) {
                      return fp8_mac(in[0], in[1], in[2], config, random_operand(in, config.rounding));
                    });
  });
}

namespace {

struct ArithmeticOptions {
  std::string format = "fp32";
  std::string a;  // empty: as `format`
  std::string b;
  std::string c;
  std::string to;
  RoundingOptions rounding;

  Format or_common(const std::string& own) const { return Format::parse(own.empty() ? format : own); }
};

// `compute` takes as many codes as `operands` names.
template <typename Compute>
void add_operation(CLI::App& calc, const std::string& name, const std::string& what,
                   const std::string& examples, const std::vector<std::string>& operands, Compute compute) {
  auto options = std::make_shared<ArithmeticOptions>();
  CLI::App* op = calc.add_subcommand(name, what);
  op->add_option("--format", options->format, "format of operands and result")->capture_default_str();
  op->add_option("--a", options->a, "format of a, if different");
  op->add_option("--b", options->b, "format of b, if different");
  if (operands.size() > 2) op->add_option("--c", options->c, "format of c, if different");
  op->add_option("--to", options->to, "format of the result, if different");
  options->rounding.add_to(*op);
  op->footer("Examples:\n" + examples);
  op->callback([options, operands, compute] {
    const ResultSpec spec{.format = options->or_common(options->to),
                          .rounding = Rounding::parse(options->rounding.round),
                          .overflow = parse_overflow(options->rounding.overflow),
                          .flush = parse_flush(options->rounding.flush)};
    const std::vector<Format> formats{options->or_common(options->a), options->or_common(options->b),
                                      options->or_common(options->c)};
    std::vector<OperandField> fields;
    for (std::size_t i = 0; i < operands.size(); ++i)
      fields.push_back(OperandField::code(operands[i], formats[i]));
    calculate_lines(
        {with_random(fields, spec.rounding), spec.format, options->rounding.json},
        [&](Operands in) { return compute(in, formats, spec, random_operand(in, spec.rounding)); });
  });
}

}  // namespace

void add_arithmetic(CLI::App& calc) {
  using Formats = std::vector<Format>;
  add_operation(
      calc, "add", "a + b (a b [R])",
      "  echo 3f800000 40000000 | mantissa calc add                                    # 40400000 -\n"
      "  echo 3c00 3c | mantissa calc add --format fp16 --b e5m2                       # 4000 -",
      {"a", "b"}, [](Operands in, const Formats& f, const ResultSpec& spec, std::uint32_t draw) {
        return add({in[0], f[0]}, {in[1], f[1]}, spec, draw);
      });
  add_operation(
      calc, "mul", "a * b (a b [R])",
      "  echo 40000000 40400000 | mantissa calc mul                                    # 40c00000 -\n"
      "  echo 3c 38 | mantissa calc mul --a e5m2 --b e4m3 --to fp32                    # 3f800000 -",
      {"a", "b"}, [](Operands in, const Formats& f, const ResultSpec& spec, std::uint32_t draw) {
        return mul({in[0], f[0]}, {in[1], f[1]}, spec, draw);
      });
  add_operation(
      calc, "div", "a / b (a b [R])",
      "  echo 3f800000 40400000 | mantissa calc div                                    # 3eaaaaab x\n"
      "  echo 3f800000 00000000 | mantissa calc div                                    # 7f800000 z",
      {"a", "b"}, [](Operands in, const Formats& f, const ResultSpec& spec, std::uint32_t draw) {
        return div({in[0], f[0]}, {in[1], f[1]}, spec, draw);
      });
  add_operation(
      calc, "fma", "a*b + c with one rounding (a b c [R])",
      "  echo 40000000 40400000 3f800000 | mantissa calc fma                           # 40e00000 -",
      {"a", "b", "c"}, [](Operands in, const Formats& f, const ResultSpec& spec, std::uint32_t draw) {
        return fma({in[0], f[0]}, {in[1], f[1]}, {in[2], f[2]}, spec, draw);
      });
}

void add_calc(CLI::App& program) {
  CLI::App* calc = program.add_subcommand(
      "calc", "Bit-exact arithmetic on hex operands, one operation per line of standard input");
  calc->require_subcommand(1);
  add_convert(*calc);
  add_mac(*calc);
  add_dot(*calc);
  add_arithmetic(*calc);
  add_prune(*calc);
  add_lfsr(*calc);
  calc->footer(
      "Operands are hex, with or without 0x; blank lines and # comments are skipped. Each result line is\n"
      "the result in hex, a space, and the flags: v invalid, z divide by zero, o overflow, u underflow, x\n"
      "inexact, or - for none. A bad line ends the run with its number and exit code 2.\n"
      "Formats: e5m2 e4m3 e3m2 e2m3 e2m1 fp16 bf16 fp32, any eXmY (X 2..8, Y 0..23), each with suffixes\n"
      "  :ieee :fn :finite :fnuz :bias=N\n"
      "Examples:\n"
      "  echo 3f900001 | mantissa calc convert --from fp32 --to e5m2\n"
      "  echo 3c 38 3f800000 | mantissa calc mac --a e5m2 --b e4m3 --acc fp32\n"
      "  mantissa calc lfsr --seed 1 --count 4");
}

}  // namespace mantissa::cli
