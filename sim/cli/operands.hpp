// Hex operands of one operation: what a line must contain, and reading it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/format/format.hpp"
#include "models/format/rounding.hpp"

namespace mantissa::cli {

struct OperandField {
  std::string name;
  std::string width_reason;  // "e5m2", "sr:8": why it has this width
  std::uint32_t max;

  static OperandField code(std::string name, const Format& format);
  // R, the random number of a stochastic rounding or pruning.
  static OperandField random(const std::string& reason, std::uint32_t max);
};

// Adds R where the rounding takes one.
std::vector<OperandField> with_random(std::vector<OperandField> fields, Rounding rounding);

// A hex number with or without 0x. Throws std::invalid_argument naming the field for anything else and for
// values that do not fit it.
std::uint32_t parse_hex(std::string_view text, const OperandField& field);

// The words of a line up to a # comment; views of it.
void split_words(std::string_view line, std::vector<std::string_view>& words);

class OperandLine {
 public:
  explicit OperandLine(std::vector<OperandField> fields);

  // False for a line without operands (blank, or only a # comment). Throws std::invalid_argument for a wrong
  // number of operands, a malformed one or one out of range.
  bool parse(std::string_view line);
  std::span<const std::uint32_t> values() const { return values_; }

 private:
  std::vector<OperandField> fields_;
  std::vector<std::string_view> words_;
  std::vector<std::uint32_t> values_;
};

}  // namespace mantissa::cli
