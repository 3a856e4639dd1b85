#include "sim/energy/formula.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <string>

#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

// One function per level of precedence.
class Evaluator {
 public:
  Evaluator(std::string_view text, const FormulaNames& names) : text_(text), names_(names) {}

  double whole() {
    const double value = sum();
    if (!at_end()) complain("something is left over");
    return value;
  }

 private:
  static constexpr int max_depth = 50;

  [[noreturn]] void complain(const std::string& what) const {
    throw std::invalid_argument("formula " + in_quotes(text_) + ": " + what + " at character " +
                                std::to_string(position_ + 1));
  }
  bool at_end() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
    return position_ == text_.size();
  }
  bool take(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) complain(std::string("'") + c + "' is missing");
  }

  double sum() {
    double value = product();
    for (;;) {
      if (take('+')) {
        value += product();
      } else if (take('-')) {
        value -= product();
      } else {
        return value;
      }
    }
  }
  double product() {
    double value = factor();
    for (;;) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        value /= factor();
      } else {
        return value;
      }
    }
  }
  double factor() {
    if (++depth_ > max_depth) complain("too many parentheses");
    const double value = unguarded_factor();
    --depth_;
    return value;
  }
  double unguarded_factor() {
    if (take('(')) {
      const double value = sum();
      expect(')');
      return value;
    }
    if (at_end()) complain("a value is missing");
    if (begins_name(text_[position_])) return named();
    double value = 0;
    const char* first = text_.data() + position_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value) || *first == '-') complain("a value is missing");
    position_ += static_cast<std::size_t>(end - first);
    return value;
  }
  double named() {
    const std::size_t start = position_;
    while (position_ < text_.size() && continues_name(text_[position_])) ++position_;
    const std::string_view name = text_.substr(start, position_ - start);
    if (take('(')) return function(name);
    const std::optional<double> value = names_(name);
    if (!value) complain("unknown name " + in_quotes(name));
    return *value;
  }
  double function(std::string_view name) {
    const double first = sum();
    const bool two = name == "min" || name == "max" || name == "pow";
    double second = 0;
    if (two) {
      expect(',');
      second = sum();
    }
    expect(')');
    if (name == "min") return std::min(first, second);
    if (name == "max") return std::max(first, second);
    if (name == "pow") return std::pow(first, second);
    if (name == "sqrt") return std::sqrt(first);
    if (name == "log2") return std::log2(first);
    complain("unknown function " + in_quotes(name) + "; allowed: min, max, pow, sqrt, log2");
  }

  std::string_view text_;
  const FormulaNames& names_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

double evaluate_formula(std::string_view text, const FormulaNames& names) {
  return Evaluator(text, names).whole();
}

}  // namespace mantissa
