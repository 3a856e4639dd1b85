// Accumulator options: names, refusals, roundings per output.
#include "models/mac/accumulator.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "models/mac/accumulator_preset.hpp"

namespace mantissa {
namespace {

Accumulator parse(const char* kind, const char* format = "fp32", const char* rounding = "rne") {
  return Accumulator::parse(kind, Format::parse(format), Rounding::parse(rounding));
}

TEST(Accumulator, KindNameParsesBack) {
  for (const char* kind : {"plain", "chunk:1", "chunk:64", "fused:4", "fused:16777216", "aligned:4,13",
                           "aligned:32,64", "aligned:16,13,rne", "kulisch"}) {
    EXPECT_EQ(parse(kind).kind_name(), kind);
  }
  EXPECT_EQ(parse("chunk:4", "fp16", "sr:8").name(), "fp16 sr:8 chunk:4");
  const Accumulator aligned = parse("aligned:8,24", "e6m9");
  EXPECT_EQ(aligned.kind, Accumulator::Kind::aligned);
  EXPECT_EQ(aligned.aligned, (AlignedGroup{.group = 8, .bits = 24}));
  EXPECT_EQ(aligned.inner_format, aligned.format);
  EXPECT_EQ(parse("chunk:4", "fp16", "sr:8").inner_rounding, Rounding::sr(8));
}

TEST(Accumulator, UnknownKindsListWhatExists) {
  for (const char* kind : {"",
                           "Plain",
                           "plain:1",
                           "kulisch:4",
                           "chunk",
                           "chunk:",
                           "chunk:0",
                           "chunk:-1",
                           "chunk:x",
                           "chunk:4,4",
                           "fused",
                           "fused:0",
                           "fused:16777217",
                           "aligned:4",
                           "aligned:4,",
                           "aligned:,4",
                           "aligned:4,0",
                           "aligned:4,65",
                           "aligned:0,4",
                           "aligned:4,4,4",
                           "aligned:4,4,rtz",
                           "aligned:4,4,",
                           "aligned",
                           "dot:4"}) {
    try {
      parse(kind);
      ADD_FAILURE() << "accepted '" << kind << "'";
    } catch (const std::invalid_argument& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find("'" + std::string(kind) + "'"), std::string::npos) << what;
      for (const char* known : {"plain", "chunk:G", "fused:G", "aligned:G,b", "kulisch"})
        EXPECT_NE(what.find(known), std::string::npos) << what;
    }
  }
}

TEST(Accumulator, FormatsBeyondFp32AreRefused) {
  for (const char* format :
       {"e8m23:bias=128", "e8m23:finite", "e8m23:fn", "e5m10:bias=200", "e5m10:bias=-120"})
    EXPECT_THROW(parse("plain", format), std::invalid_argument) << format;
  for (const char* format : {"fp32", "bf16", "e8m22", "e8m22:fnuz", "e5m10:bias=130", "e2m23:bias=-100"})
    EXPECT_NO_THROW(parse("plain", format)) << format;
  Accumulator inner = parse("chunk:4");
  inner.inner_format = Format::parse("e8m23:finite");
  EXPECT_THROW(inner.check(), std::invalid_argument);
}

// What is filled in by hand passes the same door as what is parsed.
TEST(Accumulator, CheckRefusesEachFieldOutOfRange) {
  const auto refused = [](auto change) {
    Accumulator accumulator = Accumulator::parse("aligned:4,14", formats::fp16, Rounding::rne());
    accumulator.check();
    change(accumulator);
    EXPECT_THROW(accumulator.check(), std::invalid_argument) << accumulator.name();
  };
  refused([](Accumulator& it) { it.group = 0; });
  refused([](Accumulator& it) { it.group = (1 << 24) + 1; });
  refused([](Accumulator& it) { it.aligned.group = 0; });
  refused([](Accumulator& it) { it.aligned.group = (1 << 24) + 1; });
  refused([](Accumulator& it) { it.aligned.bits = 0; });
  refused([](Accumulator& it) { it.aligned.bits = 65; });
  refused([](Accumulator& it) { it.inner = AlignedGroup{.group = 4, .bits = 8}; });  // not in a chunk
  refused([](Accumulator& it) { it.order = Accumulator::Order::pairs; });
  refused([](Accumulator& it) { it.rounding = Rounding::sr(0); });
  refused([](Accumulator& it) { it.rounding = Rounding::sr(33); });
  refused([](Accumulator& it) { it.inner_rounding = Rounding::sr(0); });
  refused([](Accumulator& it) { it.inner_format = Format::parse("e8m10:bias=200"); });
}

TEST(Accumulator, InnerAccumulatorsAndOrdersParseBack) {
  for (const char* inner : {"plain", "aligned:16,25", "aligned:16,25,rne"}) {
    Accumulator chunk = parse("chunk:32");
    chunk.inner = Accumulator::parse_inner(inner);
    EXPECT_EQ(chunk.inner_name(), inner);
    EXPECT_NO_THROW(chunk.check());
  }
  for (const char* inner : {"", "chunk:4", "aligned", "aligned:", "aligned:0,4", "aligned:4,65", "aligned:4"})
    EXPECT_THROW(Accumulator::parse_inner(inner), std::invalid_argument) << inner;
  for (const char* order : {"ascending", "pairs"}) EXPECT_EQ(name_of(parse_order(order)), order);
  EXPECT_THROW(parse_order("random"), std::invalid_argument);
  Accumulator chunk = parse("chunk:32");
  chunk.order = Accumulator::Order::pairs;
  EXPECT_THROW(chunk.check(), std::invalid_argument);  // products that are taken one by one
  chunk.inner = AlignedGroup{.group = 16, .bits = 25};
  EXPECT_EQ(chunk.name(), "fp32 rne chunk:32 of fp32 aligned:16,25 in pairs");
  chunk.inner->group = 0;
  EXPECT_THROW(chunk.check(), std::invalid_argument);
  std::vector<std::size_t> numbers;
  append_chunk(Accumulator::Order::pairs, 10, 17, numbers);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{10, 11, 14, 15, 12, 13, 16}));
}

TEST(AccumulatorPreset, NamesWhatExists) {
  for (const AccumulatorPreset& preset : accumulator_presets()) {
    EXPECT_NO_THROW(preset.accumulator.check());
    EXPECT_EQ(accumulator_preset(preset.name).accumulator.name(), preset.accumulator.name());
    EXPECT_FALSE(preset.evidence.empty());
  }
  try {
    accumulator_preset("volta");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown accumulator preset 'volta'; allowed: hopper, hopper-128, ada, ada-f16, "
                 "blackwell, mma-sm90, mma-sm100");
  }
}

TEST(Accumulator, RoundingsPerOutput) {
  EXPECT_EQ(parse("plain").roundings(100), 100);
  EXPECT_EQ(parse("kulisch").roundings(100), 1);
  EXPECT_EQ(parse("fused:8").roundings(100), 13);
  EXPECT_EQ(parse("chunk:10").roundings(100), 10);
  EXPECT_EQ(parse("aligned:7,4").roundings(0), 0);
}

TEST(Accumulator, Stochastic) {
  EXPECT_FALSE(parse("plain").stochastic());
  EXPECT_TRUE(parse("plain", "fp16", "sr:8").stochastic());
  EXPECT_TRUE(parse("kulisch", "fp16", "sr:8").stochastic());
  EXPECT_FALSE(parse("aligned:4,8", "fp16", "sr:8").stochastic());  // it truncates
  Accumulator inner = parse("chunk:4");
  inner.inner_rounding = Rounding::sr(4);
  EXPECT_TRUE(inner.stochastic());
  inner.kind = Accumulator::Kind::fused;
  EXPECT_FALSE(inner.stochastic());
}

}  // namespace
}  // namespace mantissa
