#include "sim/dut/verilator.hpp"

#include <fstream>
#include <iterator>
#include <optional>

#include "sim/dut/device_cache.hpp"
#include "sim/dut/device_shim.hpp"
#include "sim/support/data_directory.hpp"
#include "sim/support/directory_entries.hpp"
#include "sim/support/process.hpp"
#include "sim/support/sha256.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// The header of the ABI, compiled into every device.
fs::path api_header() { return data_directory() / "sim/dut/dut_api.h"; }

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

// With `temporary`, the tool's own temporary files go there: a killed one leaves them.
std::string run_tool(const std::vector<std::string>& command, const std::string& advice,
                     const ScratchDirectory* temporary = nullptr) {
  ProcessResult result;
  try {
    const std::vector<std::string> settings = temporary == nullptr
                                                  ? std::vector<std::string>{}
                                                  : std::vector{"TMPDIR=" + temporary->path().string()};
    result = run_process(command, settings);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string(error.what()) + "; Debian: apt-get install verilator g++");
  }
  if (result.exit_code != 0) throw VerilatorError(advice, result.output);
  return result.output;
}

std::string verilator_include() {
  std::string root = run_tool({"verilator", "--getenv", "VERILATOR_ROOT"}, "verilator does not work");
  root.erase(root.find_last_not_of(" \n") + 1);
  return root + "/include";
}

std::vector<std::string> compiler(const std::string& include, const char* optimisation = "-O2") {
  return {"g++",
          "-std=c++17",
          optimisation,
          "-fPIC",
          "-w",
          "-I" + include,
          "-I" + include + "/vltstd",
          "-DVM_SC=0",
          "-DVL_IGNORE_UNKNOWN_ARCH"};
}

// What is kept here, or was compiled together with the program.
CachedFilePointer find(const DeviceCache& cache, const std::string& name) {
  if (CachedFilePointer file = cache.find(name)) return file;
  const std::optional<DeviceCache> built = DeviceCache::of_build();
  return built ? built->find(name) : nullptr;
}

// Verilator's own run-time library: compiled once per cache, linked into every device.
CachedFilePointer runtime_library(const DeviceCache& cache, const std::string& include,
                                  const std::string& version) {
  const std::string name = "runtime-" + sha256(version + include) + ".a";
  if (CachedFilePointer known = find(cache, name)) return known;
  const ScratchDirectory scratch(cache);
  std::vector<std::string> archive = {"ar", "rcs", (scratch.path() / "runtime.a").string()};
  for (const char* part : {"verilated", "verilated_cov", "verilated_fst_c", "verilated_threads"}) {
    const std::string object = (scratch.path() / (std::string(part) + ".o")).string();
    std::vector<std::string> compile = compiler(include);
    compile.insert(compile.end(), {"-DVM_COVERAGE=1", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-c", "-o", object,
                                   include + "/" + part + ".cpp"});
    run_tool(compile, "Verilator's run-time library does not compile", &scratch);
    archive.push_back(object);
  }
  run_tool(archive, "ar does not work", &scratch);
  return cache.keep(scratch, "runtime.a", name);
}

std::vector<std::string> verilator_command(const VerilatorJob& job, const fs::path& directory) {
  // Tables have names of their own in every instance, which would keep equal functions apart. The rewriting
  // of bit operations has given wrong results in several versions of Verilator, and gains nothing here.
  std::vector<std::string> command = {"verilator",
                                      "--cc",
                                      "-O3",
                                      "-fno-table",
                                      "-fno-const-bit-op-tree",
                                      "--no-timing",
                                      "--assert",
                                      "-Wno-fatal",
                                      "-Werror-USERERROR",
                                      "-Werror-USERFATAL",
                                      "--x-assign",
                                      "unique",
                                      "--x-initial",
                                      "unique",
                                      "--prefix",
                                      "Vdut",
                                      "--Mdir",
                                      directory.string(),
                                      "--top-module",
                                      job.top};
  if (job.wave) command.insert(command.end(), {"--trace-fst", "--trace-structs"});
  if (job.coverage)
    command.insert(command.end(), {"--coverage-line", "--coverage-toggle", "--coverage-underscore"});
  for (const auto& [name, value] : job.parameters) {
    std::string option = "-G";
    command.push_back(option.append(name).append("=").append(value));
  }
  for (const std::string& define : job.defines) command.push_back("-D" + define);
  for (const fs::path& dir : job.include_dirs) command.push_back("-I" + dir.string());
  for (const fs::path& dir : job.library_dirs) command.insert(command.end(), {"-y", dir.string()});
  for (const fs::path& file : job.files) command.push_back(file.string());
  return command;
}

// Coverage counters make ten times the code, which the optimiser takes minutes for and a run gains little
// from.
const char* optimisation_of(const VerilatorJob& job) { return job.coverage || job.wave ? "-O0" : "-O2"; }

std::string tool_versions() {
  return run_tool({"verilator", "--version"}, "verilator does not work") +
         run_tool({"g++", "--version"}, "g++ does not work");
}

// The name under which the cache remembers what became of closed sources: of all that goes into a device,
// where it lies apart.
std::string note_name(const VerilatorJob& job, const std::string& versions) {
  std::string text = versions + optimisation_of(job) + contents(api_header()) +
                     device_shim("", api_header().filename(), job.wave, job.coverage);
  VerilatorJob options = job;
  options.files.clear();
  options.library_dirs.clear();
  options.include_dirs.clear();
  for (const std::string& word : verilator_command(options, "")) text += word + '\n';
  std::vector<fs::path> sources = job.files;
  for (const std::vector<fs::path>& directories : {job.library_dirs, job.include_dirs}) {
    for (const fs::path& directory : directories) {
      for (const std::string& name : entries_of(directory.string())) {
        if (fs::is_regular_file(directory / name)) sources.push_back(directory / name);
      }
    }
  }
  for (const fs::path& source : sources) text += source.filename().string() + '\n' + contents(source);
  return job.top + "-" + sha256(text) + ".note";
}

// The device that a note names, if both are there.
std::optional<CompiledDevice> noted(const DeviceCache& cache, const std::string& note) {
  const CachedFilePointer file = find(cache, note);
  if (!file) return std::nullopt;
  std::ifstream in(file->path());
  std::string name;
  CompiledDevice device;
  if (!(in >> name >> device.circular)) return std::nullopt;
  device.object = find(cache, name);
  if (!device.object) return std::nullopt;
  return device;
}

void write_note(const DeviceCache& cache, const ScratchDirectory& scratch, const std::string& note,
                const std::string& name, bool circular) {
  if (note.empty()) return;
  write(scratch.path() / "note", name + (circular ? " 1\n" : " 0\n"));
  cache.keep(scratch, "note", note);
}

}  // namespace

VerilatorJob unit_job(const std::string& module, const std::vector<std::pair<std::string, int>>& parameters,
                      const fs::path& directory) {
  const fs::path rtl = directory.empty() ? data_directory() / "rtl" : directory;
  VerilatorJob job;
  job.files = {rtl / "simulation.vlt", rtl / "mantissa_pkg.sv", rtl / (module + ".sv")};
  job.library_dirs = {rtl};
  job.top = module;
  for (const auto& [name, value] : parameters) job.parameters.emplace_back(name, std::to_string(value));
  return job;
}

CompiledDevice verilate(const VerilatorJob& job) {
  for (const fs::path& file : job.files) {
    if (!fs::is_regular_file(file)) throw std::invalid_argument("no such file: " + file.string());
  }
  const DeviceCache cache = DeviceCache::open();
  const std::string version = tool_versions();
  const std::string note = job.closed ? note_name(job, version) : "";
  if (!note.empty()) {
    if (const std::optional<CompiledDevice> known = noted(cache, note)) return *known;
  }
  const ScratchDirectory scratch(cache);
  const std::string said = run_tool(
      verilator_command(job, scratch.path()),
      "Verilator does not accept these sources; correct them, or add what is missing with --dut FILE, "
      "--incdir DIR or --define NAME=VALUE",
      &scratch);

  // What Verilator made decides whether the compiler must run: included files, parameters and options all
  // show there.
  std::vector<fs::path> sources;
  for (const std::string& name : entries_of(scratch.path().string())) {
    const fs::path source = scratch.path() / name;
    if (source.extension() == ".cpp" || source.extension() == ".h") sources.push_back(source);
  }
  std::string all = device_shim(contents(scratch.path() / "Vdut.h"), api_header(), job.wave, job.coverage);
  std::string everything = contents(api_header()) + all;
  for (const fs::path& source : sources) {
    everything += contents(source);
    if (source.extension() == ".cpp") all += "#include \"" + source.filename().string() + "\"\n";
  }
  const char* const optimisation = optimisation_of(job);
  const std::string name = job.top + "-" + sha256(version + optimisation + everything) + ".so";
  CompiledDevice device{find(cache, name), said.find("%Warning-UNOPTFLAT") != std::string::npos};
  if (device.object) {
    write_note(cache, scratch, note, name, device.circular);
    return device;
  }

  const std::string include = verilator_include();
  const CachedFilePointer runtime = runtime_library(cache, include, version);
  write(scratch.path() / "device.cpp", all);
  std::vector<std::string> compile = compiler(include, optimisation);
  const fs::path object = scratch.path() / "device.so";
  compile.insert(
      compile.end(),
      {"-I" + scratch.path().string(), job.coverage ? "-DVM_COVERAGE=1" : "-DVM_COVERAGE=0",
       job.wave ? "-DVM_TRACE=1" : "-DVM_TRACE=0", "-DVM_TRACE_FST=1", "-shared", "-Wl,-Bsymbolic", "-o",
       object.string(), (scratch.path() / "device.cpp").string(), runtime->path(), "-lz", "-pthread"});
  run_tool(compile, "the compiler does not accept what Verilator made of these sources", &scratch);
  device.object = cache.keep(scratch, "device.so", name);
  write_note(cache, scratch, note, name, device.circular);
  return device;
}

}  // namespace mantissa
