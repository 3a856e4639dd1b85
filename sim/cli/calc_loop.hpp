// The loop of every `mantissa calc` operation that reads operands: one line in, one line out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/format/round.hpp"
#include "sim/cli/operands.hpp"

namespace mantissa::cli {

// An operation may refuse operands with std::invalid_argument.
using Operation = std::function<Rounded(std::span<const std::uint32_t> operands)>;

struct CalcLines {
  std::vector<OperandField> fields;
  Format result;
  bool json = false;
};

// Standard input to standard output until the input ends. The first bad line stops it with
// std::invalid_argument "line N: ..."; results of the lines before it have been written by then.
void calculate_lines(const CalcLines& lines, const Operation& operation);

}  // namespace mantissa::cli
