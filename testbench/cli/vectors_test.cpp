// `mantissa vectors`: files are read back by their own headers, and every expected field is computed again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "models/format/convert.hpp"
#include "models/quantize/gemmlowp.hpp"
#include "models/sampling/double_sampler.hpp"
#include "models/sparsity/pruner.hpp"
#include "models/update/weight_update.hpp"
#include "testbench/cli/run_program.hpp"
#include "testbench/cli/scratch.hpp"
#include "testbench/support/arith_cases.hpp"
#include "testbench/support/float_oracle.hpp"

namespace mantissa::test {
namespace {

namespace fs = std::filesystem;

class Vectors : public testing::Test {
 protected:
  Scratch scratch_;
  const fs::path directory_ = scratch_.path();
};

struct Field {
  std::string name;
  bool output = false;
  int bits = 0;
  int msb = 0;
  int lsb = 0;
};
using Word = std::map<std::string, std::uint32_t>;

// A vector file, unpacked by what its header says.
struct VectorFile {
  std::map<std::string, std::string> header;
  std::vector<Field> fields;
  std::vector<Word> words;
};

Word unpack(const std::string& digits, const std::vector<Field>& fields) {
  std::string bits;
  for (const char digit : digits) {
    const int value = std::stoi(std::string(1, digit), nullptr, 16);
    for (int i = 3; i >= 0; --i) bits += (value >> i & 1) != 0 ? '1' : '0';
  }
  Word word;
  for (const Field& field : fields) {
    const std::size_t start = bits.size() - 1 - static_cast<std::size_t>(field.msb);
    word[field.name] = static_cast<std::uint32_t>(std::stoul(bits.substr(start, field.bits), nullptr, 2));
  }
  return word;
}

// "acc in 16 [44:29] fp16"
Field parse_field(const std::string& text) {
  std::array<char, 64> name{};
  std::array<char, 4> direction{};
  Field field;
  const int parsed = std::sscanf(text.c_str(), "%63s %3s %d [%d:%d]", name.data(), direction.data(),
                                 &field.bits, &field.msb, &field.lsb);
  EXPECT_EQ(parsed, 5) << text;
  field.name = name.data();
  field.output = std::string(direction.data()) == "out";
  return field;
}

VectorFile read_vectors(const fs::path& path) {
  VectorFile file;
  for (const std::string& line : lines_of(contents(path))) {
    if (line.rfind("//", 0) != 0) {
      file.words.push_back(unpack(line, file.fields));
      continue;
    }
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::string key = line.substr(3, colon - 3);
    const std::string value = line.substr(colon + 2);
    if (key == "field") {
      file.fields.push_back(parse_field(value));
    } else {
      file.header[key] = value;
    }
  }
  return file;
}

// Every localparam of F.svh.
std::map<std::string, int> read_localparams(const fs::path& path) {
  std::map<std::string, int> found;
  for (const std::string& line : lines_of(contents(path))) {
    std::array<char, 128> name{};
    int value = 0;
    if (std::sscanf(line.c_str(), "localparam int %127s = %d;", name.data(), &value) == 2) {
      EXPECT_TRUE(found.emplace(name.data(), value).second) << line;
    }
  }
  return found;
}

int signed_byte(std::uint32_t field) { return static_cast<int>(field) - (field >= 128 ? 256 : 0); }

std::uint32_t lfsr_after(std::uint32_t state, int steps) {
  for (int i = 0; i < steps; ++i) state = (state >> 1) ^ ((state & 1) != 0 ? 0x80200003U : 0U);
  return state;
}

void expect_machine(const Word& word, const MachineResult& expected, bool any_nan) {
  EXPECT_EQ(word.at("result"), expected.bits);
  // A signalling NaN is invalid; the machine agrees for FP32 operands, but FP8 operands reach it as quiet
  // ones.
  if (!any_nan) {
    EXPECT_EQ(word.at("flags"), expected.flags);
  }
}

// What each unit must give. FP32 and FP8 arithmetic by the machine, the LFSR by its definition; the method
// units by their golden models, which have oracles of their own.
struct UnitCheck {
  std::string unit;
  std::vector<std::string> options;
  std::function<void(const Word&)> check;
};

std::vector<UnitCheck> unit_checks() {
  return {
      {"lfsr", {}, [](const Word& w) { EXPECT_EQ(w.at("next"), lfsr_after(w.at("state"), 16)); }},
      {"lfsr", {"--leap", "7"}, [](const Word& w) { EXPECT_EQ(w.at("next"), lfsr_after(w.at("state"), 7)); }},
      {"fp8_mul",
       {"--b", "e4m3"},
       [](const Word& w) {
         const float a = e5m2_value(w.at("a"));
         const float b = e4m3_value(w.at("b"));
         expect_machine(w, machine_mul(a, b), std::isnan(a) || std::isnan(b));
       }},
      {"fp8_mac",
       {"--a", "e4m3"},
       [](const Word& w) {
         const float a = e4m3_value(w.at("a"));
         const float b = e5m2_value(w.at("b"));
         const float acc = float_of(w.at("acc"));
         expect_machine(w, machine_fma(a, b, acc), std::isnan(a) || std::isnan(b) || std::isnan(acc));
       }},
      {"fp32_add",
       {},
       [](const Word& w) {
         expect_machine(w, machine_add(float_of(w.at("a")), float_of(w.at("b"))), false);
       }},
      {"fp32_mul",
       {},
       [](const Word& w) {
         expect_machine(w, machine_mul(float_of(w.at("a")), float_of(w.at("b"))), false);
       }},
      {"fp32_div",
       {},
       [](const Word& w) {
         expect_machine(w, machine_div(float_of(w.at("a")), float_of(w.at("b"))), false);
       }},
      {"fp32_fma",
       {},
       [](const Word& w) {
         // 0 * Inf + NaN: IEEE 754 leaves the flag to the machine.
         const float c = float_of(w.at("c"));
         expect_machine(w, machine_fma(float_of(w.at("a")), float_of(w.at("b")), c), std::isnan(c));
       }},
      {"quantizer",
       {"--to", "e4m3", "--round", "sr:8", "--overflow", "saturate"},
       [](const Word& w) {
         const Rounded expected = convert(w.at("x"),
                                          {.to = formats::e4m3,
                                           .rounding = Rounding::sr(8),
                                           .overflow = Overflow::saturate,
                                           .scale = signed_byte(w.at("scale"))},
                                          w.at("r"));
         EXPECT_EQ(w.at("result"), expected.code);
         EXPECT_EQ(w.at("flags"), expected.flags.bits());
       }},
      {"gemmlowp_quantizer",
       {"--round", "rnz"},
       [](const Word& w) {
         // Halves are what is left below a ceiling.
         const float steps = (float_of(w.at("x")) - float_of(w.at("min"))) * float_of(w.at("inv"));
         const float q = std::isnan(steps) ? 0.0F : std::clamp(std::ceil(steps - 0.5F), 0.0F, 255.0F);
         EXPECT_EQ(static_cast<float>(w.at("q")), q) << steps;
       }},
      {"stochastic_pruner",
       {"--format", "bf16", "--round", "sr:4"},
       [](const Word& w) {
         const Pruned expected =
             prune(w.at("g"), {.format = formats::bf16, .tau = w.at("tau"), .random_bits = 4}, w.at("r"));
         EXPECT_EQ(w.at("result"), expected.code);
         EXPECT_EQ(w.at("nonzero"), (expected.code & 0x7FFF) != 0 ? 1U : 0U);
         EXPECT_EQ(w.at("outcome"), static_cast<std::uint32_t>(expected.outcome));
       }},
      {"gemmlowp_quantizer",
       {"--bits", "16", "--round", "sr:16"},
       [](const Word& w) {
         const GemmlowpRange range{.bits = 16, .min = float_of(w.at("min")), .inv = float_of(w.at("inv"))};
         const GemmlowpCode expected =
             gemmlowp_quantize(float_of(w.at("x")), range, Rounding::sr(16), w.at("r"));
         EXPECT_EQ(w.at("q"), expected.q);
         EXPECT_EQ(w.at("invalid"), expected.invalid ? 1U : 0U);
       }},
      {"double_sampler",
       {"--round", "sr:8"},
       [](const Word& w) {
         const DoubleSampler sampler(float_of(w.at("m")), static_cast<int>(w.at("s")), 8);
         const DoubleSample expected = sampler.sample(float_of(w.at("v")), w.at("r1"), w.at("r2"));
         EXPECT_EQ(w.at("sign"), expected.negative ? 1U : 0U);
         EXPECT_EQ(w.at("base"), expected.base);
         EXPECT_EQ(w.at("up1"), expected.up[0] ? 1U : 0U);
         EXPECT_EQ(w.at("up2"), expected.up[1] ? 1U : 0U);
         EXPECT_EQ(w.at("q1"), fp32_bits(sampler.value(expected, 0)));
         EXPECT_EQ(w.at("q2"), fp32_bits(sampler.value(expected, 1)));
         EXPECT_EQ(w.at("invalid"), expected.invalid ? 1U : 0U);
       }},
      {"weight_update",
       {"--round", "sr:13"},
       [](const Word& w) {
         const WeightUpdateConfig config{.learning_rate = float_of(w.at("lr")),
                                         .momentum = float_of(w.at("mu")),
                                         .weight_decay = float_of(w.at("wd")),
                                         .unscale = UnscaleByExponent{signed_byte(w.at("k"))},
                                         .rounding = Rounding::sr(13)};
         const UpdatedWeight expected =
             update_weight(static_cast<std::uint16_t>(w.at("w")), float_of(w.at("m")), float_of(w.at("g")),
                           config, w.at("r"));
         EXPECT_EQ(w.at("w_next"), expected.weight);
         EXPECT_EQ(w.at("m_next"), fp32_bits(expected.momentum));
         EXPECT_EQ(w.at("flags"), expected.flags.bits());
       }},
  };
}

TEST_F(Vectors, ExpectedFieldsAreRight) {
  std::set<std::string> covered;
  for (const UnitCheck& one : unit_checks()) {
    SCOPED_TRACE(one.unit);
    const fs::path path = directory_ / "vectors.hex";
    std::vector<std::string> arguments{"vectors", one.unit, "--count", "20000",
                                       "--seed",  "5",      "--out",   path.string()};
    arguments.insert(arguments.end(), one.options.begin(), one.options.end());
    const Finished run = run_mantissa(arguments);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const VectorFile file = read_vectors(path);
    ASSERT_EQ(file.words.size(), 20000U);
    for (std::size_t i = 0; i < file.words.size(); ++i) {
      one.check(file.words[i]);
      ASSERT_FALSE(HasFailure()) << "vector " << i << " of " << one.unit;
    }
    // Vectors that are nearly all alike would test nothing.
    std::set<Word> different(file.words.begin(), file.words.end());
    EXPECT_GT(different.size(), 15000U);
    covered.insert(one.unit);
  }
  const Finished list = run_mantissa({"vectors", "--list", "--json"});
  for (const auto& unit : nlohmann::json::parse(list.out)) {
    EXPECT_TRUE(covered.contains(unit["unit"])) << unit["unit"] << " is never checked";
  }
}

TEST_F(Vectors, HeaderListAndLocalparamsAgree) {
  const Finished list = run_mantissa({"vectors", "--list", "--json"});
  ASSERT_EQ(list.exit_code, 0);
  const auto units = nlohmann::json::parse(list.out);
  EXPECT_GE(units.size(), 12U);
  const Finished text = run_mantissa({"vectors", "--list"});
  for (const auto& unit : units) {
    const std::string name = unit["unit"];
    SCOPED_TRACE(name);
    const fs::path path = directory_ / (name + ".hex");
    ASSERT_EQ(
        run_mantissa({"vectors", name, "--count", "50", "--seed", "9", "--out", path.string()}).exit_code, 0);
    const VectorFile file = read_vectors(path);
    EXPECT_EQ(file.words.size(), 50U);
    EXPECT_EQ(file.header.at("unit").substr(0, name.size()), name);
    EXPECT_EQ(file.header.at("seed"), "9");
    EXPECT_EQ(file.header.at("count").substr(0, 3), "50 ");
    EXPECT_NE(contents(path).find("mantissa " MANTISSA_VERSION), std::string::npos);
    // Fields as listed, packed without a gap from the top bit to bit 0.
    ASSERT_EQ(file.fields.size(), unit["fields"].size());
    int top = unit["word_bits"].get<int>() - 1;
    const std::map<std::string, int> localparams = read_localparams(path.string() + ".svh");
    std::string prefix;  // fp8_mac -> Fp8Mac
    for (const char c : "_" + name) {
      const bool first = !prefix.empty() && prefix.back() == '_';
      if (first) prefix.pop_back();
      prefix += first ? static_cast<char>(std::toupper(c)) : c;
    }
    for (std::size_t i = 0; i < file.fields.size(); ++i) {
      const Field& field = file.fields[i];
      EXPECT_EQ(field.name, unit["fields"][i]["name"]);
      EXPECT_EQ(field.bits, unit["fields"][i]["bits"]);
      EXPECT_EQ(field.output, unit["fields"][i]["direction"] == "out");
      EXPECT_EQ(field.msb, top);
      EXPECT_EQ(field.lsb, top - field.bits + 1);
      top -= field.bits;
      EXPECT_NE(text.out.find(field.name + "[" + std::to_string(field.bits) + "]"), std::string::npos);
    }
    EXPECT_EQ(top, -1);
    EXPECT_EQ(localparams.at(prefix + "Count"), 50);
    EXPECT_EQ(localparams.at(prefix + "WordWidth"), unit["word_bits"]);
    const Field& first = file.fields.front();
    std::string camel = first.name;
    camel[0] = static_cast<char>(std::toupper(camel[0]));
    EXPECT_EQ(localparams.at(prefix + camel + "Width"), first.bits);
    EXPECT_EQ(localparams.at(prefix + camel + "Msb"), first.msb);
    EXPECT_EQ(localparams.at(prefix + camel + "Lsb"), first.lsb);
  }
}

TEST_F(Vectors, FormatsReachTheLocalparams) {
  const std::string path = (directory_ / "mac.hex").string();
  ASSERT_EQ(
      run_mantissa({"vectors", "fp8_mac", "--a", "e4m3", "--acc", "fp16", "--round", "sr:8", "--out", path})
          .exit_code,
      0);
  const std::string svh = contents(path + ".svh");
  for (const std::string line :
       {"localparam int Fp8MacWordWidth = 61;", "localparam int Fp8MacAExpBits = 4;",
        "localparam int Fp8MacAManBits = 3;", "localparam int Fp8MacABias = 7;",
        "localparam int Fp8MacAccExpBits = 5;", "localparam int Fp8MacAccManBits = 10;",
        "localparam int Fp8MacRWidth = 8;"}) {
    EXPECT_NE(svh.find(line), std::string::npos) << line;
  }
}

TEST_F(Vectors, CornersComeFirst) {
  const std::string path = (directory_ / "add.hex").string();
  ASSERT_EQ(run_mantissa({"vectors", "fp32_add", "--count", "2000", "--out", path}).exit_code, 0);
  const VectorFile file = read_vectors(path);
  const int corners = std::stoi(file.header.at("count").substr(file.header.at("count").find("first: ") + 7));
  ASSERT_GT(corners, 200);
  ASSERT_LT(corners, 2000);
  std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (int i = 0; i < corners; ++i) pairs.emplace(file.words[i].at("a"), file.words[i].at("b"));
  const std::vector<std::uint32_t> interesting{0,          0x80000000, 1,          0x80000001,
                                               0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF,
                                               0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000};
  for (const std::uint32_t a : interesting) {
    for (const std::uint32_t b : interesting) EXPECT_TRUE(pairs.contains({a, b})) << a << " " << b;
  }
}

TEST_F(Vectors, SeedDecidesTheFile) {
  const auto words = [&](const std::string& seed) {
    const std::string path = (directory_ / "same.hex").string();
    EXPECT_EQ(
        run_mantissa({"vectors", "fp32_mul", "--count", "2000", "--seed", seed, "--out", path}).exit_code, 0);
    return contents(path);
  };
  const std::string first = words("1");
  EXPECT_EQ(first, words("1"));
  EXPECT_NE(first.substr(first.find("// field")), words("2").substr(first.find("// field")));
}

TEST_F(Vectors, NoFileIsLeftWhereOneCannotBe) {
  const auto left = [&] { return static_cast<int>(std::distance(fs::directory_iterator(directory_), {})); };
  const std::string missing = (directory_ / "missing" / "x.hex").string();
  EXPECT_EQ(run_mantissa({"vectors", "lfsr", "--out", missing}).exit_code, 2);
  EXPECT_EQ(left(), 0);
  // The second file cannot be made: the first must not stay.
  const std::string blocked = (directory_ / "blocked.hex").string();
  fs::create_directory(blocked + ".svh");
  const Finished run = run_mantissa({"vectors", "lfsr", "--out", blocked});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("blocked.hex.svh"), std::string::npos) << run.err;
  EXPECT_EQ(left(), 1);
  fs::remove(blocked + ".svh");
  // A bad option is refused before anything is opened, and what was there stays.
  const std::string kept = (directory_ / "kept.hex").string();
  std::ofstream(kept) << "old";
  EXPECT_EQ(run_mantissa({"vectors", "fp8_mac", "--acc", "e9m9", "--out", kept}).exit_code, 2);
  EXPECT_EQ(contents(kept), "old");
  EXPECT_EQ(left(), 1);
  // The disk is full half-way.
  const Finished full = run_shell("ulimit -f 8; mantissa vectors lfsr --count 100000 --out " + kept);
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_EQ(contents(kept), "old");
  EXPECT_EQ(left(), 1);
}

TEST_F(Vectors, NumbersAreDecimal) {
  const std::string path = (directory_ / "x.hex").string();
  const Finished run = run_mantissa(
      {"vectors", "lfsr", "--count", "010", "--seed", "011", "--leap", "010", "--json", "--out", path});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const VectorFile file = read_vectors(path);
  EXPECT_EQ(file.words.size(), 10U);
  EXPECT_EQ(file.header.at("seed"), "11");
  for (const Word& word : file.words) EXPECT_EQ(word.at("next"), lfsr_after(word.at("state"), 10));
}

TEST_F(Vectors, LfsrWarnsOfLeapsThatShortenThePeriod) {
  const std::string path = (directory_ / "x.hex").string();
  const auto vectors = [&](const std::string& leap) {
    return run_mantissa({"vectors", "lfsr", "--leap", leap, "--count", "1", "--out", path});
  };
  EXPECT_EQ(vectors("3").exit_code, 0);
  EXPECT_EQ(vectors("3").err, run_mantissa({"calc", "lfsr", "--seed", "1", "--leap", "3"}).err);
  EXPECT_EQ(vectors("3").err.rfind("mantissa: warning: leap 3 ", 0), 0U);
  EXPECT_EQ(vectors("16").err, "");
}

TEST_F(Vectors, WeightUpdateSaysWhatItsFlagsCover) {
  const std::string note = "of the conversion to FP16 only";
  const std::string path = (directory_ / "x.hex").string();
  ASSERT_EQ(run_mantissa({"vectors", "weight_update", "--count", "1", "--out", path}).exit_code, 0);
  EXPECT_NE(contents(path).find("field: flags out 5 [4:0] " + note + "\n"), std::string::npos)
      << contents(path);
  EXPECT_NE(contents(path + ".svh").find("// flags, out, " + note + "\n"), std::string::npos);
  EXPECT_NE(run_mantissa({"vectors", "--list"}).out.find("  flags are " + note + "\n"), std::string::npos);
  for (const auto& unit : nlohmann::json::parse(run_mantissa({"vectors", "--list", "--json"}).out)) {
    const auto& last = unit["fields"].back();
    EXPECT_EQ(last.value("note", ""), unit["unit"] == "weight_update" ? note : "");
  }
}

TEST_F(Vectors, JsonSummaryIsAllOfTheOutput) {
  const std::string path = (directory_ / "q.hex").string();
  const Finished run = run_mantissa({"vectors", "quantizer", "--count", "700", "--json", "--out", path});
  ASSERT_EQ(run.exit_code, 0);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["unit"], "quantizer");
  EXPECT_EQ(json["count"], 700);
  EXPECT_EQ(json["words"], path);
  EXPECT_EQ(json["parameters"]["to"], "e5m2");
}

}  // namespace
}  // namespace mantissa::test
