#include "sim/verify/verify_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sim/dut/watchdog.hpp"
#include "sim/support/draft_files.hpp"
#include "sim/support/json_text.hpp"
#include "sim/support/user_text.hpp"
#include "sim/verify/rtl_speed.hpp"

namespace mantissa::verify {
namespace {

Json to_json(const std::vector<Mismatch::Value>& values) {
  Json list = Json::array();
  for (const Mismatch::Value& value : values)
    list.push_back({value.port, value.expected, value.actual, value.expected_decimal, value.actual_decimal});
  return list;
}

std::vector<Mismatch::Value> values_of(const Json& list) {
  std::vector<Mismatch::Value> values;
  for (const Json& value : list) values.push_back({value[0], value[1], value[2], value[3], value[4]});
  return values;
}

// From the simulating process to this one.
std::string packed(const VerifyReport& report) {
  Json json{{"inputs", report.lockstep.inputs},
            {"outputs", report.lockstep.outputs},
            {"cycles", report.lockstep.cycles},
            {"seconds", report.lockstep.seconds},
            {"rtl_speed", report.rtl_speed},
            {"died", report.died},
            {"bins", Json::array()},
            {"missing_outputs", report.missing_outputs},
            {"undriven_inputs", report.undriven_inputs}};
  for (const FunctionalCoverage::Bin& bin : report.bins)
    json["bins"].push_back({bin.name, bin.hits, bin.unreachable});
  if (report.lockstep.mismatch) {
    const Mismatch& mismatch = *report.lockstep.mismatch;
    json["mismatch"] = {{"what", mismatch.what},
                        {"model", mismatch.model},
                        {"stage", mismatch.stage},
                        {"cycle", mismatch.cycle},
                        {"inputs", to_json(mismatch.inputs)},
                        {"outputs", to_json(mismatch.outputs)},
                        {"golden", mismatch.golden}};
  }
  return json_text(json, -1);
}

VerifyReport unpacked(const std::string& text) {
  constexpr std::size_t deepest = 6;
  const Json json = parse_json(text, "the result of the simulation", deepest);
  VerifyReport report;
  report.lockstep.inputs = json["inputs"];
  report.lockstep.outputs = json["outputs"];
  report.lockstep.cycles = json["cycles"];
  report.lockstep.seconds = json["seconds"];
  report.rtl_speed = json["rtl_speed"];
  report.died = json["died"];
  report.missing_outputs = json["missing_outputs"];
  report.undriven_inputs = json["undriven_inputs"];
  for (const Json& bin : json["bins"]) report.bins.push_back({bin[0], bin[1], bin[2]});
  if (json.contains("mismatch")) {
    const Json& from = json["mismatch"];
    report.lockstep.mismatch = {.what = from["what"],
                                .model = from["model"],
                                .stage = from["stage"],
                                .cycle = from["cycle"],
                                .inputs = values_of(from["inputs"]),
                                .outputs = values_of(from["outputs"]),
                                .golden = from["golden"]};
  }
  return report;
}

// What a foreign device may leave out: outputs that only help to find a fault, random bits that nobody
// reads, and ready: it then takes an input in every cycle, and its outputs are taken as they come.
std::vector<std::string> optional_ports(const UnitKind& kind, const UnitParameters& parameters) {
  std::vector<std::string> ports = kind.optional_outputs;
  ports.insert(ports.end(), {"ready_o", "ready_i"});
  if (parameters.has("RndBits") && parameters.at("RndBits") == 0) ports.emplace_back("rnd_i");
  return ports;
}

void corrupt(UnitModule& systemc, const VerifyJob& job) {
  if (job.foreign)
    throw std::invalid_argument("--corrupt changes the SystemC unit, which --dut is not compared with");
  const std::vector<std::string> stages = systemc.stages();
  if (std::find(stages.begin(), stages.end(), job.corrupt_stage) == stages.end()) {
    std::string known;
    for (const std::string& stage : stages) known += " " + stage;
    throw std::invalid_argument("unit " + job.kind->name + " has no stage " + in_quotes(job.corrupt_stage) +
                                "; it has" + known);
  }
  systemc.corrupt(job.corrupt_stage);
}

VerifyReport simulate(const VerifyJob& job, const CachedFilePointer& object, const ReportProgress& progress) {
  const UnitKind& kind = *job.kind;
  const UnitParameters parameters = kind.complete(job.configuration.parameters);
  const std::unique_ptr<Reference> reference = kind.reference(parameters);
  const std::unique_ptr<UnitModule> systemc = kind.systemc("systemc", parameters);
  if (!job.corrupt_stage.empty()) corrupt(*systemc, job);
  Device device(object);
  const DeviceMap map = job.foreign ? job.foreign->map : DeviceMap{};
  UnitShape shape = shape_of(*systemc);
  shape.back_pressure = kind.back_pressure;
  RtlModule rtl("rtl", device, shape, map,
                job.foreign ? optional_ports(kind, parameters) : std::vector<std::string>{});
  // A foreign device may take another time than our unit, so only its answers count.
  VerifyReport report;
  if (job.foreign) {
    report.missing_outputs = rtl.missing_outputs();
    report.undriven_inputs = rtl.undriven_inputs();
  }
  const std::unique_ptr<Reference> rehearsal = kind.reference(parameters);
  report.lockstep = run_lockstep(*reference, *rehearsal, *systemc, !job.foreign, rtl, device,
                                 rtl.has_back_pressure(), job.lockstep, progress);
  report.bins = reference->coverage().bins();
  if (!job.coverage_data.empty()) device.write_coverage(job.coverage_data);
  if (!report.lockstep.mismatch) report.rtl_speed = rtl_speed(*kind.reference(parameters), rtl);
  return report;
}

VerifyReport report_of(const Hang& hang) {
  VerifyReport report;
  Mismatch& mismatch = report.lockstep.mismatch.emplace();
  mismatch.what = hang.what;
  mismatch.model = "rtl";
  mismatch.cycle = hang.cycle;
  for (const auto& [pin, value] : hang.inputs) mismatch.inputs.push_back({pin, "", value});
  report.died = true;
  return report;
}

// The results of a run, made in the cache's scratch and put in place when it has ended.
void publish(const std::filesystem::path& made, const std::filesystem::path& target) {
  if (target.empty() || !std::filesystem::exists(made)) return;
  DraftFile draft(target.string());
  std::ifstream in(made, std::ios::binary);
  std::vector<char> chunk(std::size_t{1} << 16);
  while (in.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), in.gcount() > 0)
    draft.out().text({chunk.data(), static_cast<std::size_t>(in.gcount())});
  draft.publish();
}

void check_writable(const std::filesystem::path& wave) {
  if (wave.empty()) return;
  const std::filesystem::path directory = wave.has_parent_path() ? wave.parent_path() : ".";
  if (::access(directory.c_str(), W_OK) != 0)
    throw std::runtime_error("cannot write the waveform " + wave.string() + ": " + std::strerror(errno));
}

}  // namespace

VerifyReport run_verify(const VerifyJob& job, const ReportProgress& progress) {
  VerilatorJob sources =
      job.foreign ? job.foreign->sources
                  : unit_job(job.kind->module, job.kind->complete(job.configuration.parameters).values());
  sources.wave = !job.lockstep.wave.empty();
  sources.coverage = !job.coverage_data.empty();
  check_writable(job.lockstep.wave);
  const CompiledDevice device = verilate(sources);
  const ScratchDirectory scratch(DeviceCache::open());
  VerifyJob inside = job;
  if (sources.wave) inside.lockstep.wave = scratch.path() / "wave.fst";
  if (sources.coverage) inside.coverage_data = scratch.path() / "coverage.dat";
  const auto work = [&](const ReportProgress& done, const EndWith& end_with) {
    const Watchdog watchdog(job.timeout, [&](const Hang& hang) { end_with(packed(report_of(hang))); });
    return packed(simulate(inside, device.object, done));
  };
  try {
    VerifyReport report = unpacked(run_isolated(work, progress));
    if (!report.died) {
      publish(inside.lockstep.wave, job.lockstep.wave);
      publish(inside.coverage_data, job.coverage_data);
    }
    report.circular = device.circular;
    return report;
  } catch (const ProcessDied& died) {
    VerifyReport report;
    report.lockstep.mismatch.emplace();
    report.lockstep.mismatch->what = died.what();
    report.lockstep.mismatch->model = "rtl";
    report.died = true;
    return report;
  }
}

}  // namespace mantissa::verify
