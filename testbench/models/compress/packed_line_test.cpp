// Packed lines against the law's worked numbers, and against a line written as a string of bits; everything
// that no packer writes is refused; the units' beats put together are the line.
#include "models/compress/packed_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <stdexcept>
#include <string>

#include "models/compress/packed_beats.hpp"
#include "testbench/support/contains.hpp"
#include "testbench/support/refusal.hpp"

namespace mantissa {
namespace {

using Bytes = std::vector<std::uint8_t>;

LineCode of(const char* format) { return LineCode::of(Format::parse(format)); }

TEST(PackedLine, WorkedNumbers) {
  const Bytes codes{0x00, 0x3C, 0x80, 0x00, 0xBE, 0x7E, 0x00, 0x00, 0x01, 0x80};
  EXPECT_EQ(pack_line(codes, of("e5m2")), (Bytes{0x32, 0x01, 0x3C, 0xBE, 0x7E, 0x01}));
  EXPECT_EQ(pack_line(codes, of("e4m3:fnuz")), (Bytes{0x36, 0x03, 0x3C, 0x80, 0xBE, 0x7E, 0x01, 0x80}));
  EXPECT_EQ(pack_line(Bytes{0, 2, 8, 0xF, 0, 0, 7, 0}, of("e2m1")), (Bytes{0x4A, 0xF2, 0x07}));
  EXPECT_EQ(pack_line(Bytes{0x3F, 0x01, 0x2A}, of("e3m2")), (Bytes{0x07, 0x7F, 0xA0, 0x02}));
  EXPECT_EQ(pack_line(Bytes{0x80}, of("e5m2")), (Bytes{0x00}));
  EXPECT_EQ(pack_line(Bytes{0x80}, LineCode::integer(8)), (Bytes{0x01, 0x80}));
}

TEST(PackedLine, MinusZeroComesBackAsPlusZero) {
  EXPECT_EQ(unpack_line(Bytes{0x02, 0xBC}, 3, of("e5m2")), (Bytes{0x00, 0xBC, 0x00}));
  EXPECT_EQ(unpack_line(pack_line(Bytes{0x80, 0x00, 0x80}, of("e5m2")), 3, of("e5m2")), (Bytes{0, 0, 0}));
}

// The line as the law says it, one character per bit, first bit first; the decoder's zeros beside it.
struct Written {
  std::string bits;
  Bytes codes;
};
Written written(const Bytes& codes, int bits, bool negative_zero) {
  Written line;
  const auto fill = [&line] {
    while (line.bits.size() % 8 != 0) line.bits += '0';
  };
  std::string stored;
  for (const std::uint8_t code : codes) {
    std::string digits;
    for (int bit = 0; bit < bits; ++bit) digits += (code >> bit & 1) != 0 ? '1' : '0';
    const std::size_t ones = std::count(digits.begin(), digits.end(), '1');
    const bool zero = ones == 0 || (negative_zero && ones == 1 && digits.back() == '1');
    line.bits += zero ? '0' : '1';
    line.codes.push_back(zero ? 0 : code);
    if (!zero) stored += digits;
  }
  fill();
  line.bits += stored;
  fill();
  return line;
}

void expect_refusal(const auto& call, const char* why) {
  const std::string message = test::refusal(call);
  EXPECT_TRUE(test::contains(message, why)) << message;
}

Bytes bytes_of_bits(const std::string& bits) {
  Bytes bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    std::string digits = bits.substr(i, 8);
    std::reverse(digits.begin(), digits.end());
    bytes.push_back(static_cast<std::uint8_t>(std::stoi(digits, nullptr, 2)));
  }
  return bytes;
}

Bytes random_codes(std::mt19937& engine, std::size_t n, int bits) {
  const auto zeros = engine() % 5;
  Bytes codes(n);
  for (std::uint8_t& code : codes) {
    code = static_cast<std::uint8_t>(engine() & ((1U << bits) - 1));
    if (engine() % 4 < zeros) code = static_cast<std::uint8_t>(engine() % 2 << (bits - 1));
  }
  return codes;
}

TEST(PackedLine, EqualsTheStringOfBits) {
  std::mt19937 engine(3);
  for (int round = 0; round < 20000; ++round) {
    const LineCode code{2 + static_cast<int>(engine() % 7), engine() % 2 == 0};
    const Bytes codes = random_codes(engine, 1 + engine() % 70, code.bits);
    const Written expected = written(codes, code.bits, code.negative_zero);
    const Bytes line = pack_line(codes, code);
    ASSERT_EQ(line, bytes_of_bits(expected.bits)) << round;
    ASSERT_EQ(unpack_line(line, codes.size(), code), expected.codes) << round;
  }
}

// Of short lines all, of longer ones many: whatever is not refused is what the packer writes for it.
TEST(PackedLine, WhatIsNotWrittenIsRefused) {
  for (const LineCode& code : {LineCode{3, true}, LineCode{3, false}, LineCode{4, true}, LineCode{8, true}}) {
    for (std::size_t n = 1; n <= 3; ++n) {
      std::size_t accepted = 0;
      for (std::size_t size = 0; size <= 3; ++size) {
        const std::uint32_t stride = size == 3 ? 4099 : size == 2 ? 5 : 1;
        for (std::uint32_t word = 0; word < 1U << (8 * size); word += stride) {
          Bytes line(size);
          for (std::size_t i = 0; i < size; ++i) line[i] = static_cast<std::uint8_t>(word >> (8 * i));
          Bytes codes;
          try {
            codes = unpack_line(line, n, code);
          } catch (const std::invalid_argument&) {
            continue;
          }
          ++accepted;
          ASSERT_EQ(codes.size(), n);
          ASSERT_EQ(pack_line(codes, code), line) << n << ' ' << word;
        }
      }
      EXPECT_GT(accepted, 0U);
    }
  }
}

TEST(PackedLine, RefusalsSayWhy) {
  const LineCode code = of("e5m2");
  expect_refusal([&] { unpack_line(Bytes{0x01}, 9, code); },
                 "1 bytes do not hold the mask of 9 elements, which has 2");
  expect_refusal(
      [&] {
        unpack_line(Bytes{0x08, 0x3C}, 3, code);
      },
      "the mask has a bit beyond its 3 elements");
  expect_refusal(
      [&] {
        unpack_line(Bytes{0x05, 0x3C}, 3, code);
      },
      "2 bytes, where 2 non-zero codes of 3 take 3");
  expect_refusal(
      [&] {
        unpack_line(Bytes{0x01, 0x3C, 0x3C}, 3, code);
      },
      "3 bytes, where 1 non-zero codes of 3 take 2");
  expect_refusal([&] { unpack_line(Bytes{0x01, 0x12}, 3, of("e2m1")); }, "a bit is set behind its last code");
  expect_refusal(
      [&] {
        unpack_line(Bytes{0x03, 0x3C, 0x80}, 3, code);
      },
      "element 1 is a zero that the mask denies");
  expect_refusal([&] { pack_line(Bytes{0, 0x10}, of("e2m1")); }, "element 1 is 16, which is no code of 4");
  expect_refusal([&] { pack_line(Bytes{0}, {9, true}); }, "allowed: 2 to 8 bits");
  expect_refusal([] { LineCode::of(formats::bf16); }, "codes of 16 bits");
}

// The law's example: 24 elements with 5, 6 and 7 non-zero ones in beats of 8.
TEST(PackedBeats, WorkedExample) {
  const LineCode code = of("e5m2");
  std::vector<DenseBeat> dense(3, {Bytes(8), false});
  dense.back().last = true;
  std::uint8_t next = 1;
  for (std::size_t beat = 0; beat < 3; ++beat) {
    for (std::size_t i = 0; i < 5 + beat; ++i) dense[beat].codes[7 - i] = next++;
  }
  ZeroPacker packer(8, code);
  const auto words = [](const PackedBeat& beat) { return std::pair(beat.mask.size(), beat.word.size()); };
  EXPECT_EQ(words(packer.push(dense[0])), std::pair(8UL, 0UL));
  EXPECT_EQ(packer.push(dense[1]).word, (Bytes{5, 4, 3, 2, 1, 11, 10, 9}));
  const PackedBeat third = packer.push(dense[2]);
  EXPECT_EQ(third.word, (Bytes{8, 7, 6, 18, 17, 16, 15, 14}));
  EXPECT_FALSE(third.last);
  EXPECT_EQ(packer.flush(), (PackedBeat{{}, {13, 12}, true}));

  ZeroUnpacker unpacker(code);
  const auto mask = [](std::size_t ones) {
    std::vector<bool> bits(8, true);
    std::fill_n(bits.begin(), 8 - ones, false);
    return bits;
  };
  EXPECT_EQ(unpacker.push({mask(5), {5, 4, 3, 2, 1, 11, 10, 9}, false})->beat, dense[0]);
  EXPECT_EQ(unpacker.push({mask(6), {8, 7, 6, 18, 17, 16, 15, 14}, false})->beat, dense[1]);
  EXPECT_EQ(unpacker.push({mask(7), {13, 12}, true})->beat, dense[2]);
}

// A line in beats of `lanes`: masks put together, words put together, and back. Words come when the law says.
TEST(PackedBeats, PutTogetherAreTheLine) {
  std::mt19937 engine(4);
  for (int round = 0; round < 5000; ++round) {
    const LineCode code{2 + static_cast<int>(engine() % 7), engine() % 2 == 0};
    const std::size_t lanes = 2 + engine() % 30;
    const Bytes codes = random_codes(engine, 1 + engine() % 150, code.bits);
    const Written expected = written(codes, code.bits, code.negative_zero);

    ZeroPacker packer(static_cast<int>(lanes), code);
    std::vector<PackedBeat> beats;
    for (std::size_t i = 0; i < codes.size(); i += lanes) {
      const std::size_t end = std::min(i + lanes, codes.size());
      const bool last = end == codes.size();
      const auto at = codes.begin() + static_cast<std::ptrdiff_t>(i);
      beats.push_back(packer.push({Bytes(at, codes.begin() + static_cast<std::ptrdiff_t>(end)), last}));
      ASSERT_EQ(beats.back().mask.size(), end - i);
    }
    const std::size_t masks = beats.size();
    if (const std::optional<PackedBeat> rest = packer.flush()) beats.push_back(*rest);
    std::string bits;
    Bytes words;
    for (std::size_t beat = 0; beat < beats.size(); ++beat) {
      ASSERT_EQ(beats[beat].last, beat + 1 == beats.size());
      if (beats[beat].word.size() != lanes && !beats[beat].word.empty()) {
        ASSERT_TRUE(beats[beat].last);
      }
      for (const bool bit : beats[beat].mask) bits += bit ? '1' : '0';
      words.insert(words.end(), beats[beat].word.begin(), beats[beat].word.end());
    }
    ASSERT_EQ(bits, expected.bits.substr(0, codes.size()));
    Bytes nonzero = expected.codes;
    nonzero.erase(std::remove(nonzero.begin(), nonzero.end(), 0), nonzero.end());
    ASSERT_EQ(words, nonzero);

    ZeroUnpacker unpacker(code);
    Bytes back;
    std::size_t fetched = 0;
    std::size_t needed = 0;
    for (std::size_t beat = 0; beat < masks; ++beat) {
      PackedBeat in{beats[beat].mask, {}, beat + 1 == masks};
      needed += std::count(in.mask.begin(), in.mask.end(), true);
      if (needed > fetched) {
        const std::size_t end = std::min(fetched + lanes, nonzero.size());
        in.word.assign(nonzero.begin() + static_cast<std::ptrdiff_t>(fetched),
                       nonzero.begin() + static_cast<std::ptrdiff_t>(end));
        fetched = end;
      }
      const std::optional<ZeroUnpacker::Result> result = unpacker.push(in);
      ASSERT_TRUE(result && !result->refused);
      ASSERT_EQ(result->beat.last, in.last);
      back.insert(back.end(), result->beat.codes.begin(), result->beat.codes.end());
    }
    ASSERT_EQ(back, expected.codes);
  }
}

// Lines one behind the other, whose bytes come a few at a time: the unpacker gives the codes of all of them,
// nothing is made of bytes that have not come, and a line ends with its last one.
TEST(PackedBeats, ReaderTakesLinesAsTheirBytesCome) {
  std::mt19937 engine(5);
  for (int round = 0; round < 2000; ++round) {
    const LineCode code{2 + static_cast<int>(engine() % 7), engine() % 2 == 0};
    const int lanes = 2 + static_cast<int>(engine() % 30);
    Bytes bytes;
    Bytes expected;
    std::vector<std::int64_t> elements;
    std::vector<std::size_t> ends;  // bytes by which all of a line's beats are there
    for (std::size_t line = 0; line < 1 + engine() % 4; ++line) {
      const Bytes codes = random_codes(engine, 1 + engine() % 100, code.bits);
      const Written packed = written(codes, code.bits, code.negative_zero);
      const Bytes stored = pack_line(codes, code);
      bytes.insert(bytes.end(), stored.begin(), stored.end());
      expected.insert(expected.end(), packed.codes.begin(), packed.codes.end());
      elements.push_back(std::ssize(codes));
      ends.push_back(bytes.size());
    }
    PackedLineReader reader(lanes, code);
    reader.begin(elements);
    ZeroUnpacker unpacker(code);
    Bytes back;
    std::size_t lines = 0;
    for (std::size_t come = 0; come <= bytes.size(); ++come) {
      Bytes here(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(come));
      here.resize(bytes.size() + 8, 0xA5);  // nobody looks behind what has come
      while (const std::optional<PackedBeat> beat = reader.next(std::span(here).first(come))) {
        const std::optional<ZeroUnpacker::Result> result = unpacker.push(*beat);
        ASSERT_TRUE(result && !result->refused);
        back.insert(back.end(), result->beat.codes.begin(), result->beat.codes.end());
        if (!beat->last) continue;
        ASSERT_EQ(come, ends[lines]);
        ++lines;
      }
    }
    ASSERT_TRUE(reader.done());
    ASSERT_EQ(lines, elements.size());
    ASSERT_EQ(back, expected);
  }
}

TEST(PackedBeats, UnpackerRefusesOnceAndGoesOnWithTheNextLine) {
  const PackedBeat good{{true, false, true}, {0x3C, 0xBE}, true};
  struct Bad {
    const char* what;
    std::vector<PackedBeat> beats;
    bool stray = false;
  };
  const std::vector<Bad> lines = {
      {"no word", {{{true, false}, {}, true}}},
      {"a word that nobody needs", {{{false, false}, {0x3C}, true}}},
      {"an early word", {{{true, false}, {0x3C, 0x3C}, false}, {{false, true}, {0x3C}, true}}},
      {"too few codes", {{{true, true}, {0x3C}, true}}},
      {"a code too many", {{{true, false}, {0x3C, 0x3C}, true}}},
      {"a zero", {{{true, true}, {0x3C, 0x80}, true}}},
      {"a bit beyond", {{{true, false}, {0x3C}, true}}, true},
      {"codes of the line before", {{{true, true}, {0x3C, 0}, false}, good}},
  };
  for (const Bad& line : lines) {
    ZeroUnpacker unpacker(of("e5m2"));
    int refused = 0;
    for (const PackedBeat& beat : line.beats) {
      const std::optional<ZeroUnpacker::Result> result = unpacker.push(beat, line.stray);
      if (result && result->refused) {
        ++refused;
        EXPECT_EQ(result->beat, (DenseBeat{{}, true})) << line.what;
      }
    }
    EXPECT_EQ(refused, 1) << line.what;
    EXPECT_EQ(unpacker.push(good), (ZeroUnpacker::Result{{{0x3C, 0x00, 0xBE}, true}})) << line.what;
  }
}

}  // namespace
}  // namespace mantissa
