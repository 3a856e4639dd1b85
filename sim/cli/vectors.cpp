// `mantissa vectors UNIT`: operands and expected results for test benches in any language.
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "sim/cli/commands.hpp"
#include "sim/cli/line_io.hpp"
#include "sim/cli/options.hpp"
#include "sim/cli/vector_file.hpp"
#include "sim/support/json_text.hpp"

namespace mantissa::cli {
namespace {

struct VectorOptions {
  std::string unit;
  std::string path;
  std::uint64_t count = 10000;
  std::uint64_t seed = 1;
  Parameters given;
  bool list = false;
  bool json = false;
};

OrderedJson field_json(const VectorField& field, const char* direction) {
  OrderedJson json{{"name", field.name}, {"direction", direction}, {"bits", field.bits}};
  if (field.format) json["format"] = field.format->name();
  if (!field.note.empty()) json["note"] = field.note;
  return json;
}

OrderedJson unit_json(const stimulus::UnitKind& kind) {
  const VectorUnit unit = kind.build(kind.defaults);
  OrderedJson fields = OrderedJson::array();
  for (const VectorField& field : unit.inputs) fields.push_back(field_json(field, "in"));
  for (const VectorField& field : unit.outputs) fields.push_back(field_json(field, "out"));
  return {{"unit", kind.name},
          {"what", kind.what},
          {"parameters", kind.defaults},
          {"word_bits", unit.word_bits()},
          {"corners", unit.corner_count()},
          {"fields", fields}};
}

void list_units(bool json) {
  OrderedJson units = OrderedJson::array();
  for (const stimulus::UnitKind& kind : stimulus::vector_units()) units.push_back(unit_json(kind));
  Output out = standard_output();
  if (json) {
    out.text(json_text(units, 2)).text("\n");
  } else {
    for (const OrderedJson& unit : units) {
      out.text(unit["unit"].get<std::string>() + ": " + unit["what"].get<std::string>() + "\n  fields");
      bool after_inputs = false;
      for (const OrderedJson& field : unit["fields"]) {
        if (field["direction"] == "out" && !after_inputs) out.text(" ->");
        after_inputs = field["direction"] == "out";
        out.text(" " + field["name"].get<std::string>() + "[" + std::to_string(field["bits"].get<int>()) +
                 "]");
      }
      for (const OrderedJson& field : unit["fields"]) {
        if (field.contains("note"))
          out.text("\n  " + field["name"].get<std::string>() + " are " + field["note"].get<std::string>());
      }
      out.text("\n  options");
      for (const auto& [name, value] : unit["parameters"].items())
        out.text(" --" + name + " " + value.get<std::string>());
      out.text(unit["parameters"].empty() ? " none\n" : "\n");
    }
  }
  out.flush();
}

void run_vectors(const VectorOptions& options) {
  if (options.list) {
    list_units(options.json);
    return;
  }
  if (options.unit.empty())
    throw std::invalid_argument("vectors needs a UNIT; mantissa vectors --list shows them");
  VectorJob job{.kind = stimulus::find_vector_unit(options.unit),
                .parameters = {},
                .count = options.count,
                .seed = options.seed,
                .path = options.path};
  job.parameters = job.kind.complete(options.given);
  if (job.path.empty()) throw std::invalid_argument("vectors needs a file to write: --out F");
  const VectorSummary summary = write_vectors(job);
  if (job.parameters.contains("leap")) warn_of_short_period(stimulus::int_parameter(job.parameters, "leap"));
  Output out = standard_output();
  if (options.json) {
    const OrderedJson json{{"unit", job.kind.name}, {"parameters", job.parameters},
                           {"count", job.count},    {"corners", summary.corners},
                           {"seed", job.seed},      {"word_bits", summary.word_bits},
                           {"words", job.path},     {"localparams", job.path + ".svh"}};
    out.text(json_text(json, 2)).text("\n");
  } else {
    out.text(std::to_string(job.count) + " vectors of " + job.kind.name + " (" +
             std::to_string(summary.corners) + " corners, " + std::to_string(job.count - summary.corners) +
             " random) in " + job.path + ", localparams in " + job.path + ".svh\n");
  }
  out.flush();
}

}  // namespace

void add_vectors(CLI::App& program) {
  auto options = std::make_shared<VectorOptions>();
  CLI::App* command =
      program.add_subcommand("vectors", "Write operands and expected results of a unit for a test bench");
  command->add_option("UNIT", options->unit, "the unit; --list shows all of them");
  command->add_option("--out", options->path, "file for the packed hex words; localparams go to F.svh")
      ->type_name("F");
  command->add_option("--count", options->count, "number of vectors")
      ->transform(whole_number(std::uint64_t{1}, max_vector_count))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the random vectors")
      ->transform(whole_number())
      ->capture_default_str();
  const auto parameter = [&](const std::string& name, const std::string& what) {
    command->add_option_function<std::string>(
        "--" + name, [options, name](const std::string& value) { options->given[name] = value; }, what);
  };
  parameter("a", "format of a (fp8_mul, fp8_mac)");
  parameter("b", "format of b (fp8_mul, fp8_mac)");
  parameter("acc", "format of the accumulator (fp8_mac)");
  parameter("to", "format of the result (quantizer)");
  parameter("format", "format of the operands (stochastic_pruner)");
  parameter("round", rounding_names() + "; sr adds a field r");
  parameter("overflow", "ieee or saturate (quantizer)");
  parameter("leap", "steps per draw (lfsr)");
  parameter("bits", "8 or 16 (gemmlowp_quantizer)");
  command->add_flag("--list", options->list, "show the units, their fields with widths, and their options");
  command->add_flag("--json", options->json, "write JSON to standard output");
  command->footer(
      "Corners come first: the cross product of each operand's interesting codes (zeros, subnormals, 1, the\n"
      "largest number, Inf, NaN and their neighbours), spread evenly if there are more than --count. Then\n"
      "random operands that reach every exponent. The same seed gives the same file everywhere. One word is\n"
      "one operation, so units with state or streams have no vectors: mantissa verify --dut checks those.\n"
      "Examples:\n"
      "  mantissa vectors fp8_mac --a e4m3 --b e5m2 --count 10000 --seed 1 --out fp8_mac.hex\n"
      "  mantissa vectors quantizer --to e4m3 --round sr:8 --overflow saturate --out quantizer.hex\n"
      "  mantissa vectors --list");
  command->callback([options] { run_vectors(*options); });
}

}  // namespace mantissa::cli
