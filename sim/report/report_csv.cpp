#include "sim/report/report_csv.hpp"

#include <array>
#include <charconv>
#include <cmath>

#include "sim/report/figures.hpp"

namespace mantissa {
namespace {

class Line {
 public:
  // A field that a spreadsheet would take apart is put in quotes.
  Line& text(std::string_view field) {
    separate();
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
      line_ += field;
      return *this;
    }
    line_ += '"';
    for (const char c : field) line_.append(c == '"' ? 2 : 1, c);
    line_ += '"';
    return *this;
  }
  Line& count(std::uint64_t value) { return text(std::to_string(value)); }
  // The shortest digits that read back as the same number.
  Line& number(double value) {
    if (!std::isfinite(value)) return text("");
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return text({digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  Line& value(const Figure& figure, const FigureValue& value) {
    if (std::holds_alternative<std::uint64_t>(value)) return count(std::get<std::uint64_t>(value));
    const double real = std::get<double>(value);
    const bool exact = figure.unit == "dB" && std::isinf(real) && real > 0;
    return exact ? text("inf") : number(real);
  }
  std::string end() const { return line_ + "\n"; }

 private:
  void separate() {
    if (started_) line_ += ',';
    started_ = true;
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
      line.text(std::to_string(is_gemm(pass) ? size : 0));
    line.text(std::to_string(pass.groups)).text(pass.formats);
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
