#include "sim/dut/device_shim.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace mantissa {
namespace {

struct Port {
  std::string name;    // in SystemVerilog
  std::string member;  // of the class that Verilator made
  bool output = false;
  int bits = 0;
};

// Verilator writes what C++ does not allow in a name as __0 and two hex digits, and puts __SYM__ in front of
// C++'s own words.
std::string decoded_name(std::string_view member) {
  constexpr std::string_view word_mark = "__SYM__";
  if (member.starts_with(word_mark)) member.remove_prefix(word_mark.size());
  std::string name;
  while (!member.empty()) {
    int code = 0;
    if (member.starts_with("__0") && member.size() >= 5) {
      const char* const digits = member.data() + 3;
      if (std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2) code = 0;
    }
    name += code == 0 ? member.front() : static_cast<char>(code);
    member.remove_prefix(code == 0 ? 1 : 5);
  }
  return name;
}

// Verilator declares each port of the top module once, with its range: VL_IN8(&a_i,7,0);
// VL_OUTW(&tap_o,95,0,3); an unpacked array has brackets: VL_IN8((&a)[4],7,0);
std::vector<Port> ports_of(const std::string& header) {
  std::vector<Port> ports;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    const bool both = line.find("VL_INOUT") != std::string::npos;
    const bool input = line.find("VL_IN") != std::string::npos;
    const bool output = line.find("VL_OUT") != std::string::npos;
    const std::size_t open = line.find("(&");
    if ((!input && !output) || open == std::string::npos) continue;
    if (line[open - 1] == '(') {
      throw std::invalid_argument("port " + decoded_name(line.substr(open + 2, line.find(')') - open - 2)) +
                                  " is an unpacked array; wrap the device in a module with packed ports");
    }
    if (both) {
      throw std::invalid_argument("port " + decoded_name(line.substr(open + 2, line.find(',') - open - 2)) +
                                  " is an inout; wrap the device in a module with inputs and outputs");
    }
    std::istringstream declaration(line.substr(open + 2));
    std::string name;
    int high = 0;
    int low = 0;
    char comma = 0;
    if (std::getline(declaration, name, ',') && declaration >> high >> comma >> low) {
      ports.push_back({decoded_name(name), name, output, high - low + 1});
    }
  }
  return ports;
}

}  // namespace

std::string device_shim(const std::string& verilated_header, const std::filesystem::path& api_header,
                        bool wave, bool coverage) {
  const std::vector<Port> ports = ports_of(verilated_header);
  std::ostringstream out;
  out << "#include \"Vdut.h\"\n#include \"verilated.h\"\n#include \"verilated_cov.h\"\n";
  if (wave) out << "#include \"verilated_fst_c.h\"\n";
  out << "#include \"" << api_header.string() << "\"\n"
      << "double sc_time_stamp() { return 0; }\n"
         "namespace {\n"
         "// Registers that a reset forgets must show: nothing starts at zero of itself.\n"
         "struct RandomStart : VerilatedContext {\n"
         "  RandomStart() { threads(1); randReset(2); randSeed(20); }\n"
         "};\n"
         "struct Device {\n"
         "  RandomStart context;\n"
         "  Vdut top{&context};\n";
  if (wave) out << "  VerilatedFstC wave;\n";
  out << "  mantissa_dut_pin pins[" << ports.size() + 1 << "] = {\n";
  for (const Port& port : ports) {
    out << "    {\"" << port.name << "\", " << port.bits << ", " << (port.output ? 1 : 0) << ", &top."
        << port.member << "},\n";
  }
  out << "    {nullptr, 0, 0, nullptr}};\n"
         "  mantissa_dut api{};\n"
         "};\n"
         "Device* of(void* self) { return static_cast<Device*>(self); }\n"
         "void eval(void* self) {\n"
         "  of(self)->top.eval();\n"
         "  if (!of(self)->context.gotFinish()) return;\n"
         "  std::fputs(\"the device has called $finish\\n\", stderr);\n"
         "  std::_Exit(1);\n"
         "}\n";
  if (wave) {
    // The file is tried first: Verilator's writer says nothing of one that it cannot open.
    out << "int open_wave(void* self, const char* path) {\n"
           "  std::FILE* file = std::fopen(path, \"wb\");\n"
           "  if (file == nullptr) return 0;\n"
           "  std::fclose(file);\n"
           "  of(self)->top.trace(&of(self)->wave, 99);\n"
           "  of(self)->wave.open(path);\n"
           "  return of(self)->wave.isOpen() ? 1 : 0;\n"
           "}\n"
           "void dump_wave(void* self, uint64_t time) { of(self)->wave.dump(time); }\n"
           "void close_wave(void* self) { of(self)->wave.close(); }\n";
  } else {
    out << "int open_wave(void*, const char*) { return 1; }\nvoid dump_wave(void*, uint64_t) {}\nvoid "
           "close_wave(void*) {}\n";
  }
  out << "void write_coverage(void* self, const char* path) {"
      << (coverage ? " of(self)->context.coveragep()->write(path);" : " (void)self; (void)path;")
      << " }\n"
      // Verilator takes a model down in the context of the model that came last: another device's, perhaps
      // gone.
      << "void destroy(void* self) {\n"
         "  Verilated::threadContextp(&of(self)->context);\n"
         "  of(self)->top.final();\n"
         "  delete of(self);\n"
         "}\n"
         "}  // namespace\n"
         "extern \"C\" mantissa_dut* mantissa_dut_create_v2() {\n"
         "  static const char* arguments[] = {\"mantissa\"};\n"
         "  auto* device = new Device;\n"
         "  device->context.commandArgs(1, arguments);\n";
  if (wave) out << "  device->context.traceEverOn(true);\n";
  out << "  device->api = {device, device->pins, " << ports.size()
      << ", eval, open_wave, dump_wave, close_wave, write_coverage, destroy};\n"
         "  return &device->api;\n}\n";
  return out.str();
}

}  // namespace mantissa
