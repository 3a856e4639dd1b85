// `mantissa calc`: known answers for every operation, the line format, errors with line numbers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/support/arith_cases.hpp"
#include "testbench/support/float_oracle.hpp"

namespace mantissa::test {
namespace {

using Arguments = std::vector<std::string>;

std::string letters(std::uint32_t flags) {
  std::string text;
  for (int i = 0; i < 5; ++i) {
    if ((flags >> (4 - i) & 1U) != 0) text += "vzoux"[i];
  }
  return text.empty() ? "-" : text;
}

// Runs the program on lines of input and compares it line by line.
class Batch {
 public:
  void add(const std::string& input, const std::string& expected) {
    input_ += input + "\n";
    inputs_.push_back(input);
    expected_.push_back(expected);
  }
  void check(const Arguments& arguments) const {
    const Finished run = run_mantissa(arguments, input_);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "");
    const std::vector<std::string> lines = lines_of(run.out);
    ASSERT_EQ(lines.size(), expected_.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      ASSERT_EQ(lines[i], expected_[i])
          << "for " << inputs_[i] << " of " << testing::PrintToString(arguments);
    }
  }

 private:
  std::string input_;
  std::vector<std::string> inputs_;
  std::vector<std::string> expected_;
};

// Of a code: a sign, X exponent and Y mantissa bits.
int hex_digits(const std::string& format) {
  static const std::map<std::string, int> named{{"fp32", 8}, {"fp16", 4}, {"bf16", 4}};
  const auto found = named.find(format);
  if (found != named.end()) return found->second;
  const int x = std::stoi(format.substr(1));
  const int y = std::stoi(format.substr(format.find('m') + 1));
  return (1 + x + y + 3) / 4;
}

std::uint32_t flag_bits(const nlohmann::json& names) {
  static const std::map<std::string, std::uint32_t> bits{
      {"invalid", 16}, {"divide_by_zero", 8}, {"overflow", 4}, {"underflow", 2}, {"inexact", 1}};
  std::uint32_t flags = 0;
  for (const auto& name : names) flags |= bits.at(name.get<std::string>());
  return flags;
}

TEST(Calc, ConvertEqualsReferenceProgram) {
  std::map<Arguments, Batch> batches;
  for (const auto& one : arith_cases("convert")) {
    const std::string format = one["format"];
    const std::string round = one["round"];
    Batch& batch =
        batches[{"calc", "convert", "--from", "fp32", "--to", format, "--round", round, "--overflow",
                 one["overflow"], "--scale", std::to_string(one["scale"].get<int>())}];
    std::string input = one["x"];
    if (round.rfind("sr", 0) == 0) input += " " + one["R"].get<std::string>();
    batch.add(input, hex(hex32(one["code"]), hex_digits(format)) + " " + letters(flag_bits(one["flags"])));
  }
  EXPECT_GT(batches.size(), 50U);
  for (const auto& [arguments, batch] : batches) batch.check(arguments);
}

TEST(Calc, PruneEqualsReferenceProgram) {
  std::map<Arguments, Batch> batches;
  for (const auto& one : arith_cases("prune")) {
    const std::string format = one["format"];
    batches[{"calc", "prune", "--format", format, "--bits", std::to_string(one["r"].get<int>())}].add(
        one["g"].get<std::string>() + " " + one["tau"].get<std::string>() + " " + one["R"].get<std::string>(),
        hex(hex32(one["code"]), hex_digits(format)) + " -");
  }
  EXPECT_GT(batches.size(), 3U);
  for (const auto& [arguments, batch] : batches) batch.check(arguments);
}

// Every exponent, no NaN (whether a NaN is signalling is the models' matter, tested there).
std::uint32_t random_number(std::mt19937& random) {
  std::uint32_t bits = 0;
  do {
    bits = static_cast<std::uint32_t>(random());
  } while (std::isnan(float_of(bits)));
  return bits;
}

TEST(Calc, AddMulDivEqualTheMachine) {
  using Operation = MachineResult (*)(float, float);
  const std::vector<std::pair<std::string, Operation>> operations{
      {"add", machine_add}, {"mul", machine_mul}, {"div", machine_div}};
  for (const auto& [name, operation] : operations) {
    Batch batch;
    std::mt19937 random(1);
    const std::vector<std::uint32_t> corners{0,          0x80000000, 1,          0x007FFFFF, 0x00800000,
                                             0x3F800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0xBF800001};
    const auto add = [&, op = operation](std::uint32_t a, std::uint32_t b) {
      const MachineResult expected = op(float_of(a), float_of(b));
      batch.add(hex(a, 8) + " " + hex(b, 8), hex(expected.bits, 8) + " " + letters(expected.flags));
    };
    for (const std::uint32_t a : corners) {
      for (const std::uint32_t b : corners) add(a, b);
    }
    for (int i = 0; i < 5000; ++i) {
      const std::uint32_t a = random_number(random);
      add(a, random_number(random));
      add(a, (a & 0xFF800000U) ^ (random() & 0x80FFFFFFU));  // exponents that meet
    }
    batch.check({"calc", name});
  }
}

TEST(Calc, FmaEqualsTheMachine) {
  Batch batch;
  std::mt19937 random(2);
  for (int i = 0; i < 5000; ++i) {
    const std::uint32_t a = random_number(random);
    const std::uint32_t b = random_number(random);
    const std::uint32_t c = random_number(random);
    const MachineResult expected = machine_fma(float_of(a), float_of(b), float_of(c));
    batch.add(hex(a, 8) + " " + hex(b, 8) + " " + hex(c, 8),
              hex(expected.bits, 8) + " " + letters(expected.flags));
  }
  batch.check({"calc", "fma"});
}

TEST(Calc, MacEqualsTheMachine) {
  Batch batch;
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t a = random() & 0xFF;
    const std::uint32_t b = random() & 0xFF;
    const float x = e5m2_value(a);
    const float y = e4m3_value(b);
    if (std::isnan(x) || std::isnan(y)) continue;
    // Half of the accumulators have an exponent near the product's.
    std::uint32_t acc = random_number(random);
    if (i % 2 == 0 && std::isfinite(x)) acc = (bits_of(x * y) ^ (random() & 0x83FFFFFFU)) & 0xBFFFFFFFU;
    const MachineResult expected = machine_fma(x, y, float_of(acc));
    batch.add(hex(a, 2) + " " + hex(b, 2) + " " + hex(acc, 8),
              hex(expected.bits, 8) + " " + letters(expected.flags));
  }
  batch.check({"calc", "mac", "--a", "e5m2", "--b", "e4m3", "--acc", "fp32", "--round", "rne"});
}

TEST(Calc, MacRoundsStochasticallyByItsOperand) {
  // 1 + 2^-12 in FP16 (spacing 2^-10 above 1): a quarter, so 64 of 256 random numbers go up.
  Batch batch;
  for (std::uint32_t r = 0; r < 256; ++r) {
    batch.add("3c 0c 3c00 " + hex(r, 2), r >= 192 ? "3c01 x" : "3c00 x");
  }
  batch.check({"calc", "mac", "--a", "e5m2", "--b", "e5m2", "--acc", "fp16", "--round", "sr:8"});
}

TEST(Calc, OperandsMayHaveFormatsOfTheirOwn) {
  Batch mul;
  mul.add("3c 40", "4000 -");  // 1 (e5m2) * 2 (e4m3)
  mul.check({"calc", "mul", "--a", "e5m2", "--b", "e4m3", "--to", "fp16"});
  Batch add;
  add.add("3f800001 3c00", "40000000 x");  // ties to even
  add.check({"calc", "add", "--b", "fp16"});
  Batch div;
  div.add("3c00 4200 ff", "3556 x");  // 1/3 = 0x3555 + a third of a spacing: F = 85 of 256
  div.add("3c00 4200 ab", "3556 x");
  div.add("3c00 4200 aa", "3555 x");
  div.check({"calc", "div", "--format", "fp16", "--round", "sr:8"});
}

TEST(Calc, ConvertOptions) {
  Batch twice;
  twice.add("3f900001", "3c x");
  twice.check({"calc", "convert", "--to", "e5m2", "--via", "fp16"});
  Batch once;
  once.add("3f900001", "3d x");
  once.check({"calc", "convert", "--to", "e5m2"});
  for (const auto& [round, result] : {std::pair("rna", "3d x"), std::pair("rnz", "3c x")}) {
    Batch tie;
    tie.add("3f900000", result);
    tie.check({"calc", "convert", "--to", "e5m2", "--round", round});
  }
  Batch flushed_in;  // 2^-16 is subnormal in e5m2
  flushed_in.add("81", "80000000 -");
  flushed_in.check({"calc", "convert", "--from", "e5m2", "--to", "fp32", "--flush", "input"});
  Batch flushed_out;
  flushed_out.add("37800000", "00 ux");
  flushed_out.check({"calc", "convert", "--to", "e5m2", "--flush", "output"});
  Batch narrow;
  narrow.add("c0c00000", "f -");  // -6 is e2m1's largest: one hex digit
  narrow.check({"calc", "convert", "--to", "e2m1"});
  Batch scaled;
  scaled.add("3f800000", "30 -");
  scaled.check({"calc", "convert", "--to", "e5m2", "--scale", "-3"});
}

TEST(Calc, LfsrStepsByItsDefinition) {
  std::string expected;
  std::uint32_t state = 0xACE1;
  for (int i = 0; i < 16 * 50; ++i) {
    state = (state >> 1) ^ ((state & 1) != 0 ? 0x80200003U : 0U);
    if (i % 16 == 15) expected += hex(state, 8) + "\n";
  }
  const Finished all = run_mantissa({"calc", "lfsr", "--seed", "ace1", "--leap", "16", "--count", "50"});
  EXPECT_EQ(all.out, expected);
  EXPECT_EQ(all.err, "");
  const Finished rest = run_mantissa({"calc", "lfsr", "--seed", "0xACE1", "--count", "20", "--skip", "30"});
  EXPECT_EQ(rest.out, expected.substr(std::size_t{30} * 9));
}

TEST(Calc, LfsrWarnsOfLeapsThatShortenThePeriod) {
  for (int leap = 1; leap <= 32; ++leap) {
    const Finished run = run_mantissa({"calc", "lfsr", "--seed", "1", "--leap", std::to_string(leap)});
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(lines_of(run.out).size(), 1U);
    // 2^32 - 1 = 3 * 5 * 17 * 257 * 65537
    const bool shortens = leap % 3 == 0 || leap % 5 == 0 || leap % 17 == 0;
    EXPECT_EQ(run.err.find("mantissa: warning: ") == 0, shortens) << leap << run.err;
  }
}

TEST(Calc, LineFormatIsForgiving) {
  const Finished run = run_mantissa({"calc", "add"},
                                    "# comment\n"
                                    "\n"
                                    "3f800000 3f800000\n"
                                    "0x3f800000\t0X40000000   # a comment\n"
                                    "  3F800000 003f800000  \r\n"
                                    "1 80000001");  // no line end
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.out, "40000000 -\n40400000 -\n40000000 -\n00000000 -\n");
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run_mantissa({"calc", "add"}, "").out, "");
}

TEST(Calc, BadLinesAreNamedAndNothingIsWrittenForThem) {
  struct BadLine {
    std::string line;
    std::vector<std::string> words;
  };
  const std::vector<BadLine> bad_lines{
      {"100 3c 0 0", {"a", "100", "out of range", "e5m2", "ff"}},
      {"3c 3c 0 100", {"R", "100", "out of range", "sr:8", "ff"}},
      {"3c 3c 100000000 0", {"acc", "out of range", "fp32"}},
      {"3c 3c fffffffffffffffffffffffff 0", {"acc", "out of range"}},
      {"3c 3c 0", {"3 operands", "4 are needed", "a b acc R"}},
      {"3c 3c 0 0 0", {"5 operands", "4 are needed"}},
      {"3c 3g 0 0", {"b", "'3g'", "hex"}},
      {"3c -1 0 0", {"b", "'-1'", "hex"}},
      {"3c 0x 0 0", {"b", "'0x'", "hex"}},
      {"3c 3c,0,0", {"b", "'3c,0,0'", "hex"}},
      {std::string(200000, '1'), {"longer than"}},
  };
  for (const BadLine& bad : bad_lines) {
    const std::string input = "3c 3c 0 0\n# comment\n\n3c 3c 3f800000 0\n" + bad.line + "\n3c 3c 0 0\n";
    const Finished run = run_mantissa({"calc", "mac", "--round", "sr:8"}, input);
    EXPECT_EQ(run.exit_code, 2) << bad.line.substr(0, 40);
    EXPECT_EQ(run.out, "3f800000 -\n40000000 -\n") << bad.line.substr(0, 40);
    EXPECT_EQ(run.err.rfind("mantissa: error: line 5: ", 0), 0U) << run.err;
    for (const std::string& word : bad.words)
      EXPECT_NE(run.err.find(word), std::string::npos) << word << ": " << run.err;
  }
}

TEST(Calc, LinesHaveOneLimitForFilesAndPipes) {
  constexpr std::size_t longest = 65536;
  struct Case {
    std::size_t length;
    std::string end;
    bool good;
  };
  // The input without its last line end, and a \r, which counts, are where a reader may disagree with itself.
  for (const Case& one : {Case{longest, "\n", true}, Case{longest, "", true}, Case{longest + 1, "\n", false},
                          Case{longest + 1, "", false}, Case{longest - 1, "\r\n", true},
                          Case{longest, "\r\n", false}, Case{2 * longest, "\n", false}}) {
    std::string line = "40000000 40000000";
    line += std::string(one.length - line.size(), ' ') + one.end;
    for (const std::string feed :
         {"mantissa calc add < $file", "cat $file | mantissa calc add",
          "{ head -c 65536 $file; sleep 0.05; tail -c +65537 $file; } | mantissa calc add"}) {
      std::string name = (std::filesystem::temp_directory_path() / "mantissa_calc_XXXXXX").string();
      const int descriptor = mkstemp(name.data());
      ASSERT_GE(descriptor, 0);
      ::close(descriptor);
      std::ofstream(name) << "3f800000 3f800000\n" << line;
      std::string script = "file=";
      script.append(name).append("; ").append(feed);
      const Finished run = run_shell(script);
      std::filesystem::remove(name);
      EXPECT_EQ(run.exit_code, one.good ? 0 : 2) << feed << one.length;
      // Results of the lines before a bad one are there, however the input came.
      EXPECT_EQ(run.out, one.good ? "40000000 -\n40800000 -\n" : "40000000 -\n") << feed << one.length;
      if (!one.good) {
        EXPECT_EQ(run.err.rfind("mantissa: error: line 2: longer than 65536 bytes", 0), 0U) << run.err;
      }
    }
  }
}

TEST(Calc, WholeNumbersAreDecimal) {
  const auto lfsr = [](const std::string& option, const std::string& value) {
    return run_mantissa({"calc", "lfsr", "--seed", "1", option, value});
  };
  EXPECT_EQ(lines_of(lfsr("--count", "010").out).size(), 10U);
  EXPECT_EQ(lfsr("--skip", "010").out, lfsr("--skip", "10").out);
  EXPECT_EQ(lfsr("--leap", "010").out, lfsr("--leap", "10").out);
  for (const std::string option : {"--count", "--skip", "--leap"}) {
    for (const std::string value : {"0x10", "1e1", "+1", "1_0", "", " 1", "99999999999999999999"}) {
      const Finished run = lfsr(option, value);
      EXPECT_EQ(run.exit_code, 2) << option << value;
      EXPECT_NE(run.err.find("'" + value + "' is not a decimal whole number"), std::string::npos) << run.err;
    }
  }
  const auto scaled = [](const std::string& scale) {
    return run_mantissa({"calc", "convert", "--to", "fp32", "--scale", scale}, "3f800000\n").out;
  };
  EXPECT_EQ(scaled("010"), "44800000 -\n");  // 2^10
  EXPECT_EQ(scaled("-010"), "3a800000 -\n");
  EXPECT_EQ(scaled("0x1"), "");
  EXPECT_EQ(run_mantissa({"calc", "prune", "--bits", "010"}, "bf000000 3f800000 3ff\n").exit_code, 0);
}

TEST(Calc, BadInputIsShownSafely) {
  using namespace std::string_literals;
  const auto error = [](const std::string& input) { return run_mantissa({"calc", "convert"}, input).err; };
  EXPECT_EQ(
      error("3f\0\x1b[31m\xff\n"s),
      "mantissa: error: line 1: operand x: '3f\\x00\\x1b[31m\\xff' is not a hex number (such as 3f800000 or "
      "0x3f800000)\n");
  EXPECT_NE(error("g" + std::string(1000, 'a') + "\n").find("'g" + std::string(39, 'a') + "...' is not"),
            std::string::npos);
  EXPECT_NE(error(std::string(1000, 'f') + "\n").find(": " + std::string(40, 'f') + "... is out"),
            std::string::npos);
  EXPECT_NE(error("1 2\n").find("2 operands where 1 is needed: x"), std::string::npos);
  const std::string option = run_mantissa({"calc", "\x1b[31m"}).err;
  EXPECT_NE(option.find("'\\x1b[31m'"), std::string::npos) << option;
  EXPECT_NE(run_mantissa({"calc", "prune"}, "0 bf800000 0\n").err.find(" bf800000 "), std::string::npos);
}

TEST(Calc, WaitsForAnOutputThatIsNotReady) {
  // A reader that starts late on a pipe that does not block: the pipe is full by then.
  const Finished run = run_shell(
      "mantissa calc lfsr --seed 1 --count 100000 2>&1 | (sleep 0.3; wc -l); "
      "python3 -c 'import os,subprocess,time\n"
      "r,w=os.pipe(); os.set_blocking(w,False)\n"
      "p=subprocess.Popen([\"mantissa\",\"calc\",\"lfsr\",\"--seed\",\"1\",\"--count\",\"100000\"],stdout=w)"
      "\n"
      "os.close(w); time.sleep(0.3)\n"
      "print(open(r).read().count(chr(10)), p.wait())'");
  EXPECT_EQ(run.out, "100000\n100000 0\n") << run.err;
}

TEST(Calc, PruneRefusesThresholdsThatAreNone) {
  for (const std::string tau : {"bf800000", "7f800000", "7fc00000"}) {
    const Finished run = run_mantissa({"calc", "prune"}, "0 0 0\n3f800000 " + tau + " 0\n");
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "00000000 -\n");
    EXPECT_EQ(run.err.rfind("mantissa: error: line 2: ", 0), 0U) << run.err;
  }
}

TEST(Calc, JsonIsOneObjectPerLine) {
  const Finished run = run_mantissa({"calc", "convert", "--json"}, "3f800000\n3f900001\n");
  ASSERT_EQ(run.exit_code, 0);
  const std::vector<std::string> lines = lines_of(run.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(lines[0]), (nlohmann::json{{"result", "3c"}, {"flags", "-"}}));
  EXPECT_EQ(nlohmann::json::parse(lines[1]), (nlohmann::json{{"result", "3d"}, {"flags", "x"}}));
  const Finished lfsr = run_mantissa({"calc", "lfsr", "--seed", "1", "--leap", "1", "--json"});
  EXPECT_EQ(nlohmann::json::parse(lfsr.out), (nlohmann::json{{"state", "80200003"}}));
}

TEST(Calc, AnswersWhileItsInputStaysOpen) {
  const Conversation calc({"calc", "add"});
  calc.say("3f800000 3f800000\n");
  EXPECT_EQ(calc.hear(), "40000000 -");
  calc.say("40000000 3f8");
  calc.say("00000\n");
  EXPECT_EQ(calc.hear(), "40400000 -");
}

TEST(Calc, AMillionLines) {
  constexpr std::size_t count = 1000000;
  std::string input;
  for (std::uint32_t i = 0; i < count; ++i) input += hex(i << 12, 8) + "\n";
  const Finished run = run_mantissa({"calc", "convert", "--to", "fp32"}, input);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(run.out.size(), count * 11);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = static_cast<std::uint32_t>(i << 12);
    const std::string expected = hex(bits, 8) + " -\n";
    if (!std::isnan(float_of(bits)) && run.out.compare(i * 11, 11, expected) != 0) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace mantissa::test
