#include "sim/cli/calc_loop.hpp"

#include <unistd.h>

#include <stdexcept>
#include <string>

#include "sim/cli/line_io.hpp"

namespace mantissa::cli {

void calculate_lines(const CalcResults& results, const LineOperation& operation) {
  Output out = standard_stream();
  LineReader in(STDIN_FILENO, out);
  const int digits = results.format.hex_digits();
  while (const auto line = in.next()) {
    std::optional<Rounded> result;
    try {
      result = operation(*line);
    } catch (const std::invalid_argument& error) {
      out.flush();
      throw std::invalid_argument("line " + std::to_string(in.line_number()) + ": " + error.what());
    }
    if (!result) continue;
    if (results.json) {
      out.text(R"({"result":")").hex(result->code, digits);
      out.text(R"(","flags":")").text(result->flags.letters()).text("\"}\n");
    } else {
      out.hex(result->code, digits).text(" ").text(result->flags.letters()).text("\n");
    }
  }
  out.flush();
}

void calculate_lines(const CalcLines& lines, const Operation& operation) {
  OperandLine operands(lines.fields);
  calculate_lines({lines.result, lines.json}, [&](std::string_view line) -> std::optional<Rounded> {
    if (!operands.parse(line)) return std::nullopt;
    return operation(operands.values());
  });
}

}  // namespace mantissa::cli
