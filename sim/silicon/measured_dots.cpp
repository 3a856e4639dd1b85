#include "sim/silicon/measured_dots.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "models/mac/accumulator.hpp"
#include "sim/support/input_file.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa::silicon {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;

class Reader {
 public:
  Reader(std::string name, const Format& a_format, const Format& b_format) : name_(std::move(name)) {
    dots_.a_format = a_format;
    dots_.b_format = b_format;
  }

  void read_line(std::string_view text) {
    ++line_;
    const std::vector<std::string_view> words = words_of(text.substr(0, text.find('#')));
    if (words.empty()) return;
    if (words.size() == 3)
      fail("there is no result: a measurement is the codes of a, those of b, the start value, the result");
    if (words.size() != 4) {
      fail(fmt::format(
          "{} words; a measurement has four: the codes of a, those of b, the start value, the result",
          words.size()));
    }
    read_codes("a", words[0], dots_.a_format, dots_.a);
    read_codes("b", words[1], dots_.b_format, dots_.b);
    dots_.start.push_back(fp32("the start value", words[2]));
    dots_.result.push_back(fp32("the result", words[3]));
    dots_.line.push_back(line_);
  }

  MeasuredDots take() {
    if (dots_.size() == 0) throw std::invalid_argument(name_ + ": holds no measurement");
    return std::move(dots_);
  }

 private:
  static std::vector<std::string_view> words_of(std::string_view text) {
    constexpr std::string_view blank = " \t\r";
    std::vector<std::string_view> words;
    for (;;) {
      const std::size_t begin = text.find_first_not_of(blank);
      if (begin == std::string_view::npos) return words;
      const std::size_t end = std::min(text.find_first_of(blank, begin), text.size());
      words.push_back(text.substr(begin, end - begin));
      text.remove_prefix(end);
    }
  }

  std::uint32_t hex(std::string_view digits, const std::string& what) const {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + digits.size())
      fail(fmt::format("{} is {}, which is no hexadecimal number", what, in_quotes(std::string(digits))));
    return value;
  }

  std::uint32_t fp32(const char* what, std::string_view word) const {
    if (word.size() != 8) {
      fail(fmt::format("{} is {}; an FP32 number has 8 hexadecimal digits", what,
                       in_quotes(std::string(word))));
    }
    return hex(word, what);
  }

  void read_codes(const char* operand, std::string_view word, const Format& format,
                  std::vector<std::uint8_t>& codes) {
    if (word.size() % 2 != 0)
      fail(fmt::format("the codes of {} have {} digits; each code has two", operand, word.size()));
    const std::size_t k = word.size() / 2;
    if (dots_.k == 0) dots_.k = k;
    if (k != dots_.k)
      fail(fmt::format("{} codes of {}; every line has as many as the first, {}", k, operand, dots_.k));
    if (k > static_cast<std::size_t>(Accumulator::max_k)) fail("more than 2^24 products");
    for (std::size_t i = 0; i < k; ++i) {
      const std::uint32_t code = hex(word.substr(2 * i, 2), fmt::format("code {} of {}", i + 1, operand));
      if (code > format.code_mask()) {
        fail(fmt::format("code {} of {} is {:02x}; {} has codes up to {:02x}", i + 1, operand, code,
                         format.name(), format.code_mask()));
      }
      codes.push_back(static_cast<std::uint8_t>(code));
    }
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw std::invalid_argument(fmt::format("{}:{}: {}", name_, line_, problem));
  }

  std::string name_;
  std::uint64_t line_ = 0;
  MeasuredDots dots_;
};

}  // namespace

MeasuredDots parse_measured_dots(std::string_view text, const std::string& name, const Format& a_format,
                                 const Format& b_format) {
  Reader reader(name, a_format, b_format);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

MeasuredDots read_measured_dots(const std::string& path, const Format& a_format, const Format& b_format) {
  return parse_measured_dots(whole_file(path, largest_file), path, a_format, b_format);
}

}  // namespace mantissa::silicon
