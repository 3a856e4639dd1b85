// The loop of every `mantissa calc` operation that reads operands: one line in, one line out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/format/round.hpp"
#include "sim/cli/operands.hpp"

namespace mantissa::cli {

// How results are written.
struct CalcResults {
  Format format;
  bool json = false;
};

// What a line gives; nothing for one without operands. Bad operands are std::invalid_argument.
using LineOperation = std::function<std::optional<Rounded>(std::string_view line)>;

// Standard input to standard output until the input ends. The first bad line stops it with
// std::invalid_argument "line N: ..."; results of the lines before it have been written by then.
void calculate_lines(const CalcResults& results, const LineOperation& operation);

// The same where every line has the same operands. An operation may refuse them, too.
using Operation = std::function<Rounded(std::span<const std::uint32_t> operands)>;

struct CalcLines {
  std::vector<OperandField> fields;
  Format result;
  bool json = false;
};
void calculate_lines(const CalcLines& lines, const Operation& operation);

}  // namespace mantissa::cli
