// A SystemC unit writes a waveform of its ports, as any module does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "sim/units/unit_makers.hpp"
#include "sim/units/unit_module.hpp"

namespace mantissa {
namespace {

namespace fs = std::filesystem;
using sc_core::sc_signal;

UnitParameters e5m2_fp32() {
  return {{"AExp", 5},     {"AMan", 2},    {"ABias", 15},    {"ASpecials", 0}, {"BExp", 5},
          {"BMan", 2},     {"BBias", 15},  {"BSpecials", 0}, {"AccExp", 8},    {"AccMan", 23},
          {"AccRound", 0}, {"RndBits", 0}, {"PipeStages", 0}};
}

// The VCD identifier of a traced signal; empty: it is not there.
std::string identifier(const std::string& vcd, const std::string& signal) {
  std::istringstream lines(vcd);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string var, type, bits, id, name;
    words >> var >> type >> bits >> id >> name;
    if (var == "$var" && name.substr(0, name.find('[')) == signal) return id;
  }
  return {};
}

TEST(UnitTrace, ShowsEveryPort) {
  const fs::path base = fs::path(testing::TempDir()) / ("unit_trace_" + std::to_string(::getpid()));
  const std::unique_ptr<UnitModule> unit = make_fp8_mac("unit", e5m2_fp32());
  sc_signal<bool> clk, rst_n, valid, ready, unit_ready, unit_valid;
  unit->clk_i.bind(clk);
  unit->rst_ni.bind(rst_n);
  unit->valid_i.bind(valid);
  unit->ready_i.bind(ready);
  unit->ready_o.bind(unit_ready);
  unit->valid_o.bind(unit_valid);
  std::vector<std::unique_ptr<sc_signal<Bits>>> data;
  const auto bind = [&data](auto* port) {
    data.push_back(
        std::make_unique<sc_signal<Bits>>(sc_core::sc_gen_unique_name("data"), Bits(port->width())));
    port->bind(*data.back());
  };
  for (DataIn* port : unit->inputs()) bind(port);
  for (DataOut* port : unit->outputs()) bind(port);

  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  sc_core::sc_trace_file* file = sc_core::sc_create_vcd_trace_file(base.c_str());
  unit->trace(file);
  rst_n.write(true);
  valid.write(true);
  ready.write(true);
  data[0]->write(Bits(8, 0x3C));
  data[1]->write(Bits(8, 0x3C));
  data[2]->write(Bits(32, 0x3F800000));
  sc_core::sc_start(1, sc_core::SC_NS);
  sc_core::sc_start(1, sc_core::SC_NS);
  sc_core::sc_close_vcd_trace_file(file);

  std::ifstream in(base.string() + ".vcd");
  const std::string vcd{std::istreambuf_iterator<char>(in), {}};
  fs::remove(base.string() + ".vcd");
  for (const char* port : {"clk_i", "rst_ni", "valid_i", "ready_i", "ready_o", "valid_o", "a_i", "b_i",
                           "acc_i", "acc_o", "flags_o", "tap_o_0"}) {
    EXPECT_NE(identifier(vcd, port), "") << port << "\n" << vcd;
  }
  // 1 * 1 + 1 = 2
  EXPECT_NE(vcd.find("b1000000000000000000000000000000 " + identifier(vcd, "acc_o") + "\n"),
            std::string::npos)
      << vcd;
}

}  // namespace
}  // namespace mantissa
