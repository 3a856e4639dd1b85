#include "sim/cli/operands.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "sim/support/user_text.hpp"

namespace mantissa::cli {
namespace {

constexpr std::string_view blanks = " \t";

std::string hex_text(std::uint32_t value) {
  char digits[8];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value, 16);
  return {digits, end};
}

}  // namespace

OperandField OperandField::code(std::string name, const Format& format) {
  return {std::move(name), format.name(), format.code_mask()};
}

OperandField OperandField::random(const std::string& reason, std::uint32_t max) { return {"R", reason, max}; }

std::vector<OperandField> with_random(std::vector<OperandField> fields, Rounding rounding) {
  if (rounding.stochastic()) fields.push_back(OperandField::random(rounding.name(), rounding.random_mask()));
  return fields;
}

std::uint32_t parse_hex(std::string_view text, const OperandField& field) {
  std::string_view digits = text;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
    digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    throw std::invalid_argument("operand " + field.name + ": " + in_quotes(text) +
                                " is not a hex number (such as 3f800000 or 0x3f800000)");
  }
  if (error == std::errc::result_out_of_range || value > field.max) {
    throw std::invalid_argument("operand " + field.name + ": " + shortened(text) + " is out of range; " +
                                field.width_reason + " goes up to " + hex_text(field.max));
  }
  return static_cast<std::uint32_t>(value);
}

OperandLine::OperandLine(std::vector<OperandField> fields) : fields_(std::move(fields)) {
  values_.resize(fields_.size());
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  line = line.substr(0, line.find('#'));
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    words.push_back(line.substr(0, line.find_first_of(blanks)));
    line.remove_prefix(words.back().size());
  }
}

bool OperandLine::parse(std::string_view line) {
  split_words(line, words_);
  const std::size_t count = words_.size();
  for (std::size_t i = 0; i < std::min(count, fields_.size()); ++i)
    values_[i] = parse_hex(words_[i], fields_[i]);
  if (count == 0) return false;
  if (count != fields_.size()) {
    std::string names;
    for (const OperandField& field : fields_) names += " " + field.name;
    throw std::invalid_argument(std::to_string(count) + (count == 1 ? " operand" : " operands") + " where " +
                                std::to_string(fields_.size()) +
                                (fields_.size() == 1 ? " is needed:" : " are needed:") + names);
  }
  return true;
}

}  // namespace mantissa::cli
