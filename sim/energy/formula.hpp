// Arithmetic in text: how a table derives one price from others. Numbers, names, + - * / and parentheses,
// min(a, b), max(a, b), pow(a, b), sqrt(a), log2(a).
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace mantissa {

// The value of a name, or nothing.
using FormulaNames = std::function<std::optional<double>(std::string_view)>;

// Throws std::invalid_argument that says where the text goes wrong, or which name is unknown.
double evaluate_formula(std::string_view text, const FormulaNames& names);

}  // namespace mantissa
