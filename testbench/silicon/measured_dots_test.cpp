// Measurements as text: what is read, and every way in which a line can be wrong.
#include "sim/silicon/measured_dots.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace mantissa::silicon {
namespace {

MeasuredDots parse(const std::string& text, const Format& format = formats::e4m3) {
  return parse_measured_dots(text, "mine.txt", format, format);
}

TEST(MeasuredDots, LinesOfFourWords) {
  const MeasuredDots dots = parse(
      "# of a device\n\n3840 40b8 3f800000 40000000\n  0001\t7EFF  00000000 7fc00000  # and a comment\r\n");
  ASSERT_EQ(dots.size(), 2U);
  EXPECT_EQ(dots.k, 2U);
  EXPECT_EQ(dots.a, (std::vector<std::uint8_t>{0x38, 0x40, 0x00, 0x01}));
  EXPECT_EQ(dots.b, (std::vector<std::uint8_t>{0x40, 0xB8, 0x7E, 0xFF}));
  EXPECT_EQ(dots.start, (std::vector<std::uint32_t>{0x3F800000, 0}));
  EXPECT_EQ(dots.result, (std::vector<std::uint32_t>{0x40000000, 0x7FC00000}));
  EXPECT_EQ(dots.line, (std::vector<std::uint64_t>{3, 4}));
}

TEST(MeasuredDots, WrongLinesAreNamed) {
  const auto refused = [](const std::string& text, const std::string& message,
                          const Format& format = formats::e4m3) {
    try {
      parse(text, format);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  const std::string good = "3840 40b8 3f800000 40000000\n";
  refused("", "mine.txt: holds no measurement");
  refused("# nothing\n", "mine.txt: holds no measurement");
  refused(good + "3840 40b8 3f800000\n", "mine.txt:2: there is no result");
  refused(good + "3840 40b8\n", "mine.txt:2: 2 words; a measurement has four");
  refused(good + "3840 40b8 3f800000 40000000 1\n", "mine.txt:2: 5 words");
  refused(good + "384 40b8 3f800000 40000000\n", "mine.txt:2: the codes of a have 3 digits");
  refused(good + "3840 40b83f 3f800000 40000000\n",
          "mine.txt:2: 3 codes of b; every line has as many as the first, 2");
  refused("38 40b8 3f800000 40000000\n", "mine.txt:1: 2 codes of b; every line has as many as the first, 1");
  refused(good + "38+1 40b8 3f800000 40000000\n",
          "mine.txt:2: code 2 of a is '+1', which is no hexadecimal number");
  refused(good + "3840 40b8 3f80000 40000000\n",
          "mine.txt:2: the start value is '3f80000'; an FP32 number has 8");
  refused(good + "3840 40b8 3f800000 4000000x\n",
          "mine.txt:2: the result is '4000000x', which is no hexadecimal");
  refused("3840 40 3f800000 40000000\n", "mine.txt:1: code 1 of a is 38; e2m1 has codes up to 0f",
          formats::e2m1);
}

TEST(MeasuredDots, AFileThatIsNotThere) {
  EXPECT_THROW(read_measured_dots("nosuch.txt", formats::e4m3, formats::e4m3), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa::silicon
