// `mantissa calc dot`: every accumulator against the machine's floats, against closed forms and against the
// worked numbers of ARITHMETIC.md 4; bad input.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "testbench/cli/run_program.hpp"
#include "testbench/support/float_oracle.hpp"

namespace mantissa::test {
namespace {

using Arguments = std::vector<std::string>;

std::string repeated(const std::string& word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += word + " ";
  return text;
}

Finished dot(const Arguments& options, const std::string& lines) {
  Arguments arguments{"calc", "dot"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_mantissa(arguments, lines);
}

void expect_result(const Arguments& options, const std::string& line, const std::string& result) {
  const Finished run = dot(options, line + "\n");
  EXPECT_EQ(run.out, result + "\n") << testing::PrintToString(options) << " " << line << run.err;
  EXPECT_EQ(run.exit_code, 0);
}

// A dot product of E5M2 and E4M3 codes without specials, and what the machine makes of it.
struct Dot {
  std::string line;
  std::vector<double> products;
  float start = 0;

  explicit Dot(std::mt19937& random) {
    const std::size_t k = 1 + random() % 12;
    std::string b;
    for (std::size_t i = 0; i < k; ++i) {
      // Exponents near 1, so that sums of doubles are exact.
      const auto x = static_cast<std::uint32_t>((random() & 0x83U) | ((11 + random() % 8) << 2));
      const auto y = static_cast<std::uint32_t>((random() & 0x87U) | ((3 + random() % 8) << 3));
      line += hex(x, 2) + " ";
      b += hex(y, 2) + " ";
      products.push_back(static_cast<double>(e5m2_value(x)) * static_cast<double>(e4m3_value(y)));
    }
    line += b;
    if (random() % 2 == 0) {
      start = std::ldexp(static_cast<float>(random() % 0x1000000U), static_cast<int>(random() % 6) - 20);
      line += hex(bits_of(start), 8);
    }
  }
};

// acc' = fp32(acc + the sum of a group), exact in a double before its one rounding.
std::string machine_sum(const Dot& dot, std::size_t group) {
  float acc = dot.start;
  bool inexact = false;
  for (std::size_t first = 0; first < dot.products.size(); first += group) {
    double sum = acc;
    for (std::size_t i = first; i < std::min(first + group, dot.products.size()); ++i) sum += dot.products[i];
    acc = static_cast<float>(sum) + 0.0F;
    inexact |= static_cast<double>(acc) != sum;
  }
  return hex(bits_of(acc), 8) + (inexact ? " x" : " -");
}

TEST(CalcDot, PlainFusedAndKulischEqualTheMachine) {
  const struct {
    const char* kind;
    std::size_t group;
  } kinds[] = {{"plain", 1}, {"fused:1", 1}, {"fused:3", 3}, {"kulisch", 1000}};
  for (const auto& [kind, group] : kinds) {
    std::mt19937 random(1);
    std::string lines;
    std::string expected;
    for (int i = 0; i < 3000; ++i) {
      const Dot one(random);
      lines += one.line + "\n";
      expected += machine_sum(one, group) + "\n";
    }
    const Finished run = dot({"--a", "e5m2", "--b", "e4m3", "--kind", kind}, lines);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_TRUE(run.out == expected) << kind;
  }
}

// 256 + 1 + 1 + 1 in BF16.
TEST(CalcDot, WorkedNumbersOfTheLaw) {
  const std::string line = "5c 3c 3c 3c 3c 3c 3c 3c";
  const struct {
    const char* kind;
    const char* round;
    const char* result;
  } cases[] = {
      {"plain", "rne", "4380 x"},   {"chunk:2", "rne", "4381 x"},     {"fused:2", "rne", "4381 x"},
      {"fused:4", "rne", "4382 x"}, {"kulisch", "rne", "4382 x"},     {"aligned:4,7", "rne", "4380 x"},
      {"plain", "rna", "4383 x"},   {"chunk:2", "rna", "4382 x"},     {"fused:2", "rna", "4382 x"},
      {"fused:4", "rna", "4382 x"}, {"plain", "rnz", "4380 x"},       {"fused:4", "rnz", "4381 x"},
      {"plain", "rtz", "4380 x"},   {"aligned:4,8", "rne", "4381 x"}, {"aligned:4,8", "rna", "4381 x"}};
  for (const auto& one : cases)
    expect_result({"--acc", "bf16", "--kind", one.kind, "--round", one.round}, line, one.result);
  // 1.5 * 1.5 + 0.3125 * 1 in units of 1/4.
  expect_result({"--kind", "aligned:2,2"}, "3e 35 3e 3c", "40200000 x");
  expect_result({"--kind", "aligned:2,4"}, "3e 35 3e 3c", "40240000 -");
}

TEST(CalcDot, StartsWhereItIsTold) {
  for (const char* kind : {"plain", "chunk:2", "fused:2", "aligned:2,20", "kulisch"}) {
    const Arguments options{"--kind", kind};
    expect_result(options, "3c 3c", "3f800000 -");
    expect_result(options, "3c 3c 40000000", "40400000 -");
    expect_result(options, "3c bc 3c 3c 40000000", "40000000 -");  // 2 + 1 - 1
    expect_result(options, "00 3c 40000000", "40000000 -");
    expect_result(options, "00 3c 7fc00001", "7fc00000 -");
    expect_result(options, "00 3c 7f800001", "7fc00000 v");  // signalling
  }
}

TEST(CalcDot, SpecialValuesAndTheirFlags) {
  for (const char* kind : {"plain", "chunk:2", "fused:2", "aligned:2,20", "kulisch"}) {
    const Arguments options{"--kind", kind};
    expect_result(options, "7c 3c", "7f800000 -");
    expect_result(options, "00 7c", "7fc00000 v");              // 0 * Inf
    expect_result(options, "7c fc 3c 3c", "7fc00000 v");        // Inf - Inf
    expect_result(options, "fc 3c 7f800000", "7fc00000 v");     // in the accumulator
    expect_result(options, "7e 3c", "7fc00000 -");              // a quiet NaN
    expect_result(options, "bc 3c 3c 3c 3c bc", "bf800000 -");  // -1 + 1 - 1
    expect_result({"--acc", "fp16", "--kind", kind}, "7b 7b",
                  std::string(kind).starts_with("aligned") ? "7bff ox" : "7c00 ox");
  }
}

// One more than 1 in FP16 is 2^-10: a product of 2^-12 goes up for 64 of 256 random numbers. The generator
// steps as ARITHMETIC.md 3 says.
class Draws {
 public:
  explicit Draws(std::uint32_t seed) : state_(seed) {}
  std::uint32_t next8() {
    for (int i = 0; i < 16; ++i) state_ = (state_ >> 1) ^ ((state_ & 1) != 0 ? 0x80200003U : 0U);
    return state_ & 0xFF;
  }

 private:
  std::uint32_t state_;
};

TEST(CalcDot, StochasticRoundingsDrawOneByOne) {
  constexpr int k = 200;
  for (const std::uint32_t seed : {1U, 0xACE1U}) {
    Draws draws(seed);
    std::uint32_t ups = 0;
    for (int i = 0; i < k; ++i) ups += draws.next8() >= 192 ? 1 : 0;
    const std::string line = repeated("0c", k) + repeated("3c", k) + "3c00";
    const Arguments options{"--acc", "fp16", "--round", "sr:8", "--seed", hex(seed, 1)};
    expect_result(options, line, hex(0x3C00 + ups, 4) + " x");
    // Every line begins at the seed.
    const Finished twice = dot(options, repeated(line + "\n", 2));
    EXPECT_EQ(lines_of(twice.out)[0], lines_of(twice.out)[1]);
  }
}

TEST(CalcDot, ChunksHaveAnAccumulatorOfTheirOwn) {
  // Chunks of 1 and 2^-12: inside, each is 1 or 1 + 2^-10 by the second of its two draws; FP32 adds them
  // exactly.
  constexpr int chunks = 100;
  Draws draws(7);
  int ups = 0;
  for (int i = 0; i < chunks; ++i) {
    draws.next8();
    ups += draws.next8() >= 192 ? 1 : 0;
  }
  const float sum = static_cast<float>(chunks) + std::ldexp(static_cast<float>(ups), -10);
  expect_result({"--kind", "chunk:2", "--inner-acc", "fp16", "--inner-round", "sr:8", "--inner-seed", "7"},
                repeated("3c 0c", chunks) + repeated("3c", 2 * chunks), hex(bits_of(sum), 8) + " x");
}

TEST(CalcDot, JsonIsOneObjectPerLine) {
  EXPECT_EQ(dot({"--json"}, "3c 3c\n").out, "{\"result\":\"3f800000\",\"flags\":\"-\"}\n");
}

TEST(CalcDot, BadInputIsRefused) {
  const auto expect_refused = [](const Arguments& options, const std::string& line, const std::string& what) {
    const Finished run = dot(options, line + "\n");
    EXPECT_EQ(run.exit_code, 2) << testing::PrintToString(options) << line;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(what), std::string::npos) << run.err;
  };
  expect_refused({}, "3c", "line 1: 1 operand where 2K or 2K+1 are needed");
  expect_refused({}, "3c 13c", "line 1: operand b: 13c is out of range; e5m2 goes up to ff");
  expect_refused({}, "x 3c", "operand a: 'x' is not a hex number");
  expect_refused({"--acc", "fp16"}, "3c 3c 10000",
                 "operand acc: 10000 is out of range; fp16 goes up to ffff");
  expect_refused({"--kind", "chunk"}, "3c 3c", "unknown accumulator option 'chunk'; allowed: plain");
  expect_refused({"--kind", "aligned:4"}, "3c 3c", "unknown accumulator option 'aligned:4'");
  expect_refused({"--round", "up"}, "3c 3c", "unknown rounding 'up'; allowed: rne");
  expect_refused({"--a", "fp16"}, "3c 3c", "operand format fp16 has 16 bits");
  expect_refused({"--acc", "e8m23:bias=200"}, "3c 3c", "reaches beyond fp32");
  expect_refused({"--inner-acc", "fp16"}, "3c 3c", "--inner-acc and --inner-round belong to --kind chunk:G");
  expect_refused({"--round", "sr:17"}, "3c 3c", "17");
  expect_refused({"--round", "sr:8", "--seed", "0"}, "3c 3c", "seed");
  // What came before a bad line has been answered.
  EXPECT_EQ(dot({}, "# nothing\n\n3c 3c\n3c\n").out, "3f800000 -\n");
}

TEST(CalcDot, PresetsAreNames) {
  const std::string line = repeated("38", 8) + repeated("40", 8);  // E4M3: 8 * (1 * 2)
  expect_result({"--a", "e4m3", "--b", "e4m3", "--preset", "hopper"}, line, "106000 -");
  expect_result({"--a", "e4m3", "--b", "e4m3", "--preset", "mma-sm90"}, line, "4c00 -");
  EXPECT_NE(dot({"--preset", "volta"}, line).err.find("unknown accumulator preset 'volta'; allowed: hopper"),
            std::string::npos);
  EXPECT_EQ(dot({"--preset", "hopper", "--kind", "plain"}, line).exit_code, 2);
  expect_result({"--a", "e4m3", "--b", "e4m3", "--kind", "chunk:32", "--acc", "fp16", "--inner",
                 "aligned:16,25,rne", "--order", "pairs"},
                line, "4c00 -");
  EXPECT_NE(dot({"--inner", "aligned:4,8"}, line).err.find("belong to --kind chunk:G"), std::string::npos);
  EXPECT_NE(dot({"--kind", "chunk:4", "--order", "pairs"}, line).err.find("an order of products"),
            std::string::npos);
}

TEST(Silicon, WritesWhatADeviceMeasuresAndCompares) {
  // A device that is a shell: what it "computes" is what calc dot says for Ada.
  const Finished run = run_in_scratch(
      "mantissa silicon write --count 60 --k 32 --seed 3 > operands.txt\n"
      "grep -c '^[0-9a-f]' operands.txt\n"
      "mantissa silicon check operands.txt; echo exit $?\n"
      "grep -v '#' operands.txt | while read -r a b start; do\n"
      "  echo $(sed 's/../& /g' <<< $a) $(sed 's/../& /g' <<< $b)\n"
      "done | mantissa calc dot --a e4m3 --b e4m3 --preset ada | cut -d ' ' -f 1 |\n"
      "  mantissa calc convert --from e8m13 --to fp32 | cut -d ' ' -f 1 > results.txt\n"
      "grep -v '#' operands.txt | paste -d ' ' - results.txt > measured.txt\n"
      "mantissa silicon check measured.txt > out.txt; echo exit $?\n"
      "grep -E '^ada  .*zero' out.txt\n"
      "sed -i '7s/ [^ ]*$/ 3f800000/' measured.txt\n"
      "mantissa silicon check measured.txt --preset ada > out.txt; echo exit $?\n"
      "grep -c 'line 7: the device has 3f800000' out.txt\n"
      "mantissa silicon check measured.txt --a e5m2 --b e2m1; echo exit $?\n");
  EXPECT_EQ(run.out, "60\nexit 2\nexit 0\nada         zero      60          0  <-- all\nexit 1\n1\nexit 2\n")
      << run.err;
  EXPECT_NE(run.err.find("operands.txt:3: there is no result"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("measured.txt:1: code"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace mantissa::test
