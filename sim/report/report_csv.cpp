#include "sim/report/report_csv.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "sim/report/figures.hpp"
#include "sim/support/user_text.hpp"

namespace mantissa {
namespace {

class Line {
 public:
  // Any text: printable, so that a line is a record, and text to a spreadsheet, too.
  Line& text(std::string_view field) {
    std::string shown = printable(field);
    if (is_formula(shown)) shown.insert(0, 1, '\'');
    if (shown.find_first_of(",\"") == std::string::npos) return as_it_is(shown);
    std::string quoted = "\"";
    for (const char c : shown) quoted.append(c == '"' ? 2 : 1, c);
    return as_it_is(quoted + "\"");
  }
  Line& count(std::uint64_t value) { return as_it_is(std::to_string(value)); }
  // The shortest digits that read back as the same number.
  Line& number(double value) {
    if (!std::isfinite(value)) return as_it_is("");
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return as_it_is({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  Line& value(const Figure& figure, const FigureValue& value) {
    if (std::holds_alternative<std::uint64_t>(value)) return count(std::get<std::uint64_t>(value));
    const double real = std::get<double>(value);
    const bool exact = figure.unit == "dB" && std::isinf(real) && real > 0;
    return exact ? text("inf") : number(real);
  }
  std::string end() const { return line_ + "\n"; }

 private:
  // What a spreadsheet would compute, in the wide forms of some languages, too.
  static bool is_formula(std::string_view field) {
    for (const std::string_view sign : {"=", "+", "-", "@", "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"}) {
      if (field.starts_with(sign)) return true;
    }
    return false;
  }
  Line& as_it_is(std::string_view field) {
    if (started_) line_ += ',';
    started_ = true;
    line_ += field;
    return *this;
  }
  std::string line_;
  bool started_ = false;
};

double energy_of(const Energy& energy, const std::string& component) {
  for (const EnergyComponent& one : energy.components) {
    if (one.name == component) return one.pj;
  }
  return 0;
}

}  // namespace

std::string report_csv(const ReplayReport& report) {
  const std::vector<Energy> energy = total(report).overall.energy;  // with every component of any pass
  Line header;
  for (const char* name : {"step", "layer", "pass", "kind", "M", "N", "K", "groups", "formats"})
    header.text(name);
  const std::vector<const Figure*> columns = placed(&Figure::csv);
  for (const Figure* figure : columns) {
    if (!figure->energy()) header.text(figure->key);
  }
  for (std::size_t i = 0; i < energy.size(); ++i) {
    const std::string table = report.tables[i].name + "_";
    for (const EnergyComponent& one : energy[i].components) header.text(table + one.name + "_pj");
    for (const Figure* figure : columns) {
      const std::string_view key = figure->key;  // the table's name says that it is energy
      if (figure->energy())
        header.text(table + std::string(key.starts_with("energy_") ? key.substr(7) : key));
    }
  }
  std::string text = header.end();
  for (const PassReport& pass : report.passes) {
    Line line;
    line.count(pass.step).text(pass.layer).text(name_of(pass.pass)).text(name_of(pass.kind));
    for (const std::int64_t size : {pass.gemm.m, pass.gemm.n, pass.gemm.k})
      line.count(static_cast<std::uint64_t>(is_gemm(pass) ? size : 0));
    line.count(static_cast<std::uint64_t>(pass.groups)).text(pass.formats);
    for (const Figure* figure : columns) {
      if (!figure->energy()) line.value(*figure, value_of(*figure, pass).value());
    }
    for (std::size_t i = 0; i < energy.size(); ++i) {
      for (const EnergyComponent& one : energy[i].components)
        line.number(energy_of(pass.energy[i], one.name));
      for (const Figure* figure : columns) {
        if (figure->energy()) line.number(figure->of.energy(pass.energy[i], pass.cost));
      }
    }
    text += line.end();
  }
  return text;
}

}  // namespace mantissa
