#include "sim/dut/verilator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "models/random/stream.hpp"
#include "sim/dut/process.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;

// The header of the ABI, compiled into every device.
const fs::path api_header = MANTISSA_DUT_API_HEADER;

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

// A directory that goes away with the object.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const fs::path& parent) {
    std::string name = (parent / "build-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a directory in " + parent.string());
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// Two chained 64-bit hashes of the text: a name in the cache, no defence against forgery.
std::string digest(const std::string& text) {
  std::uint64_t low = 0;
  std::uint64_t high = 1;
  for (const char c : text) {
    low = mix(low ^ static_cast<unsigned char>(c));
    high = mix(high + low);
  }
  std::ostringstream name;
  name << std::hex << high << low;
  return name.str();
}

std::string run_tool(const std::vector<std::string>& command, const std::string& advice) {
  ProcessResult result;
  try {
    result = run_process(command);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(std::string(error.what()) + "; tools/setup installs it");
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

// Verilator's own run-time library: compiled once per cache, linked into every device.
fs::path runtime_library(const fs::path& cache, const std::string& include, const std::string& version) {
  fs::path library = cache / ("runtime-" + digest(version + include) + ".a");
  if (fs::exists(library)) return library;
  const ScratchDirectory scratch(cache);
  std::vector<std::string> archive = {"ar", "rcs", (scratch.path() / "runtime.a").string()};
  for (const char* name : {"verilated", "verilated_cov", "verilated_fst_c", "verilated_threads"}) {
    const std::string object = (scratch.path() / (std::string(name) + ".o")).string();
    std::vector<std::string> compile = compiler(include);
    compile.insert(compile.end(), {"-DVM_COVERAGE=1", "-DVM_TRACE=1", "-DVM_TRACE_FST=1", "-c", "-o", object,
                                   include + "/" + name + ".cpp"});
    run_tool(compile, "Verilator's run-time library does not compile");
    archive.push_back(object);
  }
  run_tool(archive, "ar does not work");
  fs::rename(scratch.path() / "runtime.a", library);
  return library;
}

struct Port {
  std::string name;
  bool output = false;
  int bits = 0;
};

// Verilator declares each port of the top module once, with its range: VL_IN8(&a_i,7,0);
// VL_OUTW(&tap_o,95,0,3);
std::vector<Port> ports_of(const std::string& header) {
  std::vector<Port> ports;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    const bool input = line.find("VL_IN") != std::string::npos && line.find("VL_INOUT") == std::string::npos;
    const bool output =
        line.find("VL_OUT") != std::string::npos || line.find("VL_INOUT") != std::string::npos;
    const std::size_t open = line.find("(&");
    if ((!input && !output) || open == std::string::npos) continue;
    std::istringstream declaration(line.substr(open + 2));
    std::string name;
    int high = 0;
    int low = 0;
    char comma = 0;
    if (std::getline(declaration, name, ',') && declaration >> high >> comma >> low) {
      ports.push_back({name, output, high - low + 1});
    }
  }
  return ports;
}

// The code between the ABI and the class that Verilator made.
std::string shim(const std::vector<Port>& ports, const VerilatorJob& job) {
  std::ostringstream out;
  out << "#include \"Vdut.h\"\n#include \"verilated.h\"\n#include \"verilated_cov.h\"\n";
  if (job.wave) out << "#include \"verilated_fst_c.h\"\n";
  out << "#include \"" << api_header.string() << "\"\n"
      << "double sc_time_stamp() { return 0; }\n"
         "namespace {\n"
         "struct Device {\n"
         "  VerilatedContext context;\n"
         "  Vdut top{&context};\n";
  if (job.wave) out << "  VerilatedFstC wave;\n";
  out << "  mantissa_dut_pin pins[" << ports.size() + 1 << "] = {\n";
  for (const Port& port : ports) {
    out << "    {\"" << port.name << "\", " << port.bits << ", " << (port.output ? 1 : 0) << ", &top."
        << port.name << "},\n";
  }
  out << "    {nullptr, 0, 0, nullptr}};\n"
         "  mantissa_dut api{};\n"
         "};\n"
         "Device* of(void* self) { return static_cast<Device*>(self); }\n"
         "void eval(void* self) { of(self)->top.eval(); }\n";
  if (job.wave) {
    out << "void open_wave(void* self, const char* path) { of(self)->top.trace(&of(self)->wave, 99); "
           "of(self)->wave.open(path); }\n"
           "void dump_wave(void* self, uint64_t time) { of(self)->wave.dump(time); }\n"
           "void close_wave(void* self) { of(self)->wave.close(); }\n";
  } else {
    out << "void open_wave(void*, const char*) {}\nvoid dump_wave(void*, uint64_t) {}\nvoid "
           "close_wave(void*) {}\n";
  }
  out << "void write_coverage(void* self, const char* path) {"
      << (job.coverage ? " of(self)->context.coveragep()->write(path);" : " (void)self; (void)path;")
      << " }\n"
      << "void destroy(void* self) { of(self)->top.final(); delete of(self); }\n"
         "}  // namespace\n"
         "extern \"C\" mantissa_dut* mantissa_dut_create_v1() {\n"
         "  static const char* arguments[] = {\"mantissa\"};\n"
         "  auto* device = new Device;\n"
         "  device->context.commandArgs(1, arguments);\n";
  if (job.wave) out << "  device->context.traceEverOn(true);\n";
  out << "  device->api = {device, device->pins, " << ports.size()
      << ", eval, open_wave, dump_wave, close_wave, write_coverage, destroy};\n"
         "  return &device->api;\n}\n";
  return out.str();
}

std::vector<std::string> verilator_command(const VerilatorJob& job, const fs::path& directory) {
  // Tables have names of their own in every instance, which would keep equal functions apart.
  std::vector<std::string> command = {"verilator",        "--cc",         "-O3",    "-fno-table",
                                      "-Wno-fatal",       "--x-assign",   "unique", "--x-initial",
                                      "unique",           "--prefix",     "Vdut",   "--Mdir",
                                      directory.string(), "--top-module", job.top};
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

}  // namespace

fs::path device_cache() {
  const auto from = [](const char* name) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets variables
    return fs::path(value == nullptr ? "" : value);
  };
  if (fs::path own = from("MANTISSA_CACHE"); !own.empty()) return own;
  if (const fs::path xdg = from("XDG_CACHE_HOME"); !xdg.empty()) return xdg / "mantissa";
  if (const fs::path home = from("HOME"); !home.empty()) return home / ".cache" / "mantissa";
  return fs::temp_directory_path() / "mantissa-cache";
}

fs::path verilate(const VerilatorJob& job) {
  for (const fs::path& file : job.files) {
    if (!fs::is_regular_file(file)) throw std::invalid_argument("no such file: " + file.string());
  }
  const fs::path cache = device_cache();
  fs::create_directories(cache);
  const ScratchDirectory scratch(cache);
  run_tool(verilator_command(job, scratch.path()),
           "Verilator does not accept these sources; correct them, or add what is missing with --dut FILE, "
           "--incdir DIR or --define NAME=VALUE");

  // What Verilator made decides whether the compiler must run: included files, parameters and options all
  // show there.
  std::vector<fs::path> sources;
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch.path())) {
    if (entry.path().extension() == ".cpp") sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end());
  std::string everything = contents(api_header) + contents(scratch.path() / "Vdut.h");
  std::string all = shim(ports_of(everything), job);
  everything += all;
  for (const fs::path& source : sources) {
    everything += contents(source);
    all += "#include \"" + source.filename().string() + "\"\n";
  }
  const std::string version = run_tool({"verilator", "--version"}, "verilator does not work");
  fs::path library = cache / (job.top + "-" + digest(version + everything) + ".so");
  if (fs::exists(library)) return library;

  const std::string include = verilator_include();
  const fs::path runtime = runtime_library(cache, include, version);
  write(scratch.path() / "device.cpp", all);
  // Coverage counters make ten times the code, which the optimiser takes minutes for and a run gains little
  // from.
  std::vector<std::string> compile = compiler(include, job.coverage || job.wave ? "-O0" : "-O2");
  const fs::path object = scratch.path() / "device.so";
  compile.insert(
      compile.end(),
      {"-I" + scratch.path().string(), job.coverage ? "-DVM_COVERAGE=1" : "-DVM_COVERAGE=0",
       job.wave ? "-DVM_TRACE=1" : "-DVM_TRACE=0", "-DVM_TRACE_FST=1", "-shared", "-Wl,-Bsymbolic", "-o",
       object.string(), (scratch.path() / "device.cpp").string(), runtime.string(), "-lz", "-pthread"});
  run_tool(compile, "the compiler does not accept what Verilator made of these sources");
  fs::rename(object, library);
  return library;
}

}  // namespace mantissa
