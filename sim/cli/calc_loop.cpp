#include "sim/cli/calc_loop.hpp"

#include <unistd.h>

#include <stdexcept>
#include <string>

#include "sim/cli/line_io.hpp"

namespace mantissa::cli {

void calculate_lines(const CalcLines& lines, const Operation& operation) {
  Output out = standard_output();
  LineReader in(STDIN_FILENO, out);
  OperandLine operands(lines.fields);
  while (const auto line = in.next()) {
    Rounded result;
    try {
      if (!operands.parse(*line)) continue;
      result = operation(operands.values());
    } catch (const std::invalid_argument& error) {
      out.flush();
      throw std::invalid_argument("line " + std::to_string(in.line_number()) + ": " + error.what());
    }
    if (lines.json) {
      out.text(R"({"result":")").hex(result.code, lines.result.hex_digits());
      out.text(R"(","flags":")").text(result.flags.letters()).text("\"}\n");
    } else {
      out.hex(result.code, lines.result.hex_digits()).text(" ").text(result.flags.letters()).text("\n");
    }
  }
  out.flush();
}

}  // namespace mantissa::cli
