#include "sim/cli/verify_report.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/support/json_text.hpp"
#include "sim/verify/units/unit_table.hpp"

namespace mantissa::cli {
namespace {

using verify::FunctionalCoverage;
using verify::Mismatch;
using verify::UnitKind;

std::uint64_t operations(const verify::LockstepResult& run) { return std::max(run.inputs, run.outputs); }

double rate(const verify::LockstepResult& run) {
  return run.seconds > 0 ? static_cast<double>(operations(run)) / run.seconds : 0;
}

bool reachable(const FunctionalCoverage::Bin& bin) { return bin.unreachable.empty() || bin.hits > 0; }

struct BinShare {
  std::size_t hit = 0;
  std::size_t total = 0;
  std::vector<std::string> empty;
};

BinShare share_of(const std::vector<FunctionalCoverage::Bin>& bins) {
  BinShare share;
  for (const FunctionalCoverage::Bin& bin : bins) {
    if (!reachable(bin)) continue;
    ++share.total;
    if (bin.hits > 0) {
      ++share.hit;
    } else {
      share.empty.push_back(bin.name);
    }
  }
  return share;
}

std::string format(const char* pattern, auto... values) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

// A line, or nothing where there are no names.
std::string listed(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return {};
  std::string line = what;
  for (const std::string& name : names) line += " " + name;
  return line + "\n";
}

OrderedJson values_json(const std::vector<Mismatch::Value>& values) {
  OrderedJson json = OrderedJson::object();
  for (const Mismatch::Value& value : values) {
    if (value.expected.empty()) {
      json[value.port] = value.actual;
    } else {
      json[value.port] = {{"expected", value.expected}, {"actual", value.actual}};
      if (!value.expected_decimal.empty()) {
        json[value.port]["expected_decimal"] = value.expected_decimal;
        json[value.port]["actual_decimal"] = value.actual_decimal;
      }
    }
  }
  return json;
}

std::string described(const verify::CoverageExclusion& exclusion) {
  std::string text = exclusion.instance;
  if (!exclusion.module.empty()) text += " (" + exclusion.module + ")";
  text +=
      exclusion.signal.empty() ? " line '" + exclusion.line + "'" : " toggles of " + exclusion.signal + "*";
  return text + ": " + exclusion.reason;
}

std::string diagnosis(const ConfigurationReport& report) {
  const Mismatch& mismatch = *report.run.lockstep.mismatch;
  std::string text = "\nMISMATCH in " + report.unit + " (" + report.configuration + "), " + mismatch.model +
                     ", cycle " + std::to_string(mismatch.cycle) + ": " + mismatch.what + "\n";
  text += describe(mismatch);
  text += "  seed " + std::to_string(report.seed) + "\n";
  if (!report.wave.empty()) text += "  waveform: " + report.wave + "\n";
  return text + "  again: " + report.reproduce + "\n";
}

}  // namespace

bool SessionReport::passed() const {
  return std::none_of(configurations.begin(), configurations.end(), [](const ConfigurationReport& report) {
    return report.run.lockstep.mismatch.has_value();
  });
}

std::string SessionReport::json() const {
  OrderedJson list = OrderedJson::array();
  for (const ConfigurationReport& report : configurations) {
    const verify::LockstepResult& run = report.run.lockstep;
    OrderedJson json{{"unit", report.unit},
                     {"configuration", report.configuration},
                     {"device", report.device},
                     {"seed", report.seed},
                     {"vectors", operations(run)},
                     {"inputs", run.inputs},
                     {"outputs", run.outputs},
                     {"cycles", run.cycles},
                     {"mismatches", run.mismatch ? 1 : 0},
                     {"lockstep_vectors_per_second", rate(run)},
                     {"rtl_operations_per_second", report.run.rtl_speed}};
    if (!report.run.missing_outputs.empty()) json["outputs_not_compared"] = report.run.missing_outputs;
    if (!report.run.undriven_inputs.empty()) json["inputs_not_driven"] = report.run.undriven_inputs;
    if (report.run.circular) json["circular_logic"] = true;
    OrderedJson bins = OrderedJson::object();
    for (const FunctionalCoverage::Bin& bin : report.run.bins) {
      bins[bin.name] = bin.hits;
      if (!bin.unreachable.empty()) object_in(json, "unreachable_bins")[bin.name] = bin.unreachable;
    }
    json["bins"] = bins;
    json["empty_bins"] = share_of(report.run.bins).empty;
    if (run.mismatch) {
      json["mismatch"] = {{"what", run.mismatch->what},
                          {"model", run.mismatch->model},
                          {"stage", run.mismatch->stage},
                          {"cycle", run.mismatch->cycle},
                          {"inputs", values_json(run.mismatch->inputs)},
                          {"outputs", values_json(run.mismatch->outputs)},
                          {"golden", run.mismatch->golden},
                          {"wave", report.wave},
                          {"reproduce", report.reproduce}};
    }
    list.push_back(std::move(json));
  }
  OrderedJson covered = OrderedJson::array();
  for (const UnitCoverage& unit : coverage) {
    OrderedJson excluded = OrderedJson::array();
    for (const verify::CoverageExclusion& exclusion : unit.exclusions) {
      excluded.push_back({{"instance", exclusion.instance},
                          {"module", exclusion.module},
                          {"signal", exclusion.signal},
                          {"line", exclusion.line},
                          {"reason", exclusion.reason}});
    }
    covered.push_back({{"unit", unit.unit},
                       {"line_percent", unit.lines.percent()},
                       {"toggle_percent", unit.toggles.percent()},
                       {"missed", unit.missed},
                       {"excluded", excluded}});
  }
  OrderedJson json{{"version", MANTISSA_VERSION}, {"passed", passed()}, {"runs", list}};
  if (!coverage.empty()) json["rtl_coverage"] = covered;
  return json_text(json, 2) + "\n";
}

std::string SessionReport::text() const {
  std::string text = format("%-22s %-28s %11s %11s %10s %9s %10s %10s\n", "unit", "configuration", "vectors",
                            "cycles", "mismatches", "bins", "vectors/s", "RTL ops/s");
  std::string notes;
  for (const ConfigurationReport& report : configurations) {
    const verify::LockstepResult& run = report.run.lockstep;
    const BinShare bins = share_of(report.run.bins);
    text += format("%-22s %-28s %11llu %11llu %10d %9s %10.3g %10.3g\n", report.unit.c_str(),
                   report.configuration.c_str(), static_cast<unsigned long long>(operations(run)),
                   static_cast<unsigned long long>(run.cycles), run.mismatch ? 1 : 0,
                   (std::to_string(bins.hit) + "/" + std::to_string(bins.total)).c_str(), rate(run),
                   report.run.rtl_speed);
    notes += listed("not compared, because the device lacks it:", report.run.missing_outputs);
    notes += listed("device input that the bench does not drive, held at 0:", report.run.undriven_inputs);
    if (report.run.circular) {
      notes +=
          "Verilator sees circular logic in this device (UNOPTFLAT) and may simulate it wrongly; if bits of "
          "a "
          "vector\ndepend on other bits of it, split it (Yosys: splitnets before write_verilog)\n";
    }
    if (!bins.empty.empty() && !run.mismatch) {
      notes += report.unit + " (" + report.configuration + "): empty bins:";
      for (const std::string& name : bins.empty) notes += " [" + name + "]";
      notes += "\n";
    }
  }
  if (!coverage.empty()) {
    text += format("\n%-22s %10s %10s\n", "RTL coverage", "lines", "toggles");
    for (const UnitCoverage& unit : coverage) {
      text += format("%-22s %8.2f %% %8.2f %%   %s\n", unit.unit.c_str(), unit.lines.percent(),
                     unit.toggles.percent(), unit.exclusions.empty() ? "" : "with exclusions:");
      for (const verify::CoverageExclusion& exclusion : unit.exclusions) {
        text += "    " + described(exclusion) + "\n";
      }
    }
  }
  if (!notes.empty()) text += "\n" + notes;
  for (const ConfigurationReport& report : configurations) {
    if (report.run.lockstep.mismatch) text += diagnosis(report);
  }
  return text;
}

std::string unit_list() {
  std::ostringstream out;
  out << "Every unit has `clk_i`, `rst_ni` (asynchronous, active low), `valid_i`/`ready_o` for its inputs "
         "and `valid_o`/`ready_i` for its\n"
         "outputs, one bit each.\n";
  for (const UnitKind& kind : verify::unit_kinds()) {
    out << "\n### " << kind.name << "\n\n"
        << kind.what << " (ARITHMETIC.md " << kind.section << "). Latency: " << kind.latency << "."
        << (kind.back_pressure ? "" : " There is no `ready_i`: a result stands for one cycle.") << "\n\n"
        << "| port | width | what |\n|---|---|---|\n";
    for (const verify::PortNote& port : kind.ports) {
      out << "| `" << port.name << "` | " << port.width << " | " << port.what << " |\n";
    }
    if (kind.parameters.empty()) continue;
    out << "\n| parameter | default | what |\n|---|---|---|\n";
    for (const verify::ParameterNote& parameter : kind.parameters) {
      out << "| `" << parameter.name << "` | " << parameter.value << " | " << parameter.what << " |\n";
    }
  }
  return out.str();
}

std::string unit_list_json() {
  OrderedJson list = OrderedJson::array();
  for (const UnitKind& kind : verify::unit_kinds()) {
    OrderedJson json{{"unit", kind.name},
                     {"module", kind.module},
                     {"what", kind.what},
                     {"section", kind.section},
                     {"latency", kind.latency}};
    json["ports"] = OrderedJson::array();
    for (const verify::PortNote& port : kind.ports) {
      json["ports"].push_back({{"name", port.name}, {"width", port.width}, {"what", port.what}});
    }
    json["parameters"] = OrderedJson::array();
    for (const verify::ParameterNote& parameter : kind.parameters) {
      json["parameters"].push_back(
          {{"name", parameter.name}, {"default", parameter.value}, {"what", parameter.what}});
    }
    for (const verify::Configuration& configuration : kind.configurations) {
      const UnitParameters complete = kind.complete(configuration.parameters);
      OrderedJson parameters = OrderedJson::object();
      for (const auto& [name, value] : complete.values()) parameters[name] = value;
      list_in(json, "configurations").push_back({{"name", configuration.name}, {"parameters", parameters}});
    }
    json["stages"] = kind.systemc("systemc", kind.complete({}))->stages();  // what --corrupt knows
    list.push_back(std::move(json));
  }
  return json_text(list, 2) + "\n";
}

}  // namespace mantissa::cli
