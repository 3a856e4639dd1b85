// An architecture that cannot be is refused by the name of the key that makes it so.
#include "sim/arch/architecture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <stdexcept>

namespace mantissa {
namespace {

TEST(Architecture, DefaultsAreSound) { EXPECT_NO_THROW(Architecture().check()); }

TEST(Architecture, NamesTheKeyThatCannotBe) {
  struct Mistake {
    std::string key;
    std::function<void(Architecture&)> make;
  };
  const std::vector<Mistake> mistakes = {
      {"rows 0", [](Architecture& a) { a.rows = 0; }},
      {"cols -1", [](Architecture& a) { a.cols = -1; }},
      {"rows 4097", [](Architecture& a) { a.rows = 4097; }},
      {"window 65536", [](Architecture& a) { a.window = 65536; }},
      {"depth 0", [](Architecture& a) { a.depth = 0; }},
      {"port 0", [](Architecture& a) { a.port = 0; }},
      {"pipe_latency -1", [](Architecture& a) { a.pipe_latency = -1; }},
      {"a_buffer 0", [](Architecture& a) { a.a_buffer_bytes = 0; }},
      {"b_buffer -5", [](Architecture& a) { a.b_buffer_bytes = -5; }},
      {"dram_latency in cycles -1", [](Architecture& a) { a.dram_latency_cycles = -1; }},
      {"dram_burst 0", [](Architecture& a) { a.dram_burst_bytes = 0; }},
      {"dram_bandwidth: a burst takes 0", [](Architecture& a) { a.dram_burst_cycles = 0; }},
      {"c_buffer 0", [](Architecture& a) { a.c_buffer_bytes = 0; }},
      {"sum_rows 0", [](Architecture& a) { a.sum_rows = 0; }},
      {"dram_outstanding 0", [](Architecture& a) { a.dram_outstanding = 0; }},
      {"fp32_macs_per_cycle 0", [](Architecture& a) { a.fp32_macs_per_cycle = 0; }},
      {"mapping: m_block 8",
       [](Architecture& a) {
         a.mapping = Mapping::given;
         a.blocks = {BlockOrder::m_outside, 8, 16, 1};
       }},
      {"mapping: dataflow",
       [](Architecture& a) {
         a.mapping = Mapping::automatic;
         a.dataflow = Dataflow::stonne_os;
       }},
      {"norm_lanes 0", [](Architecture& a) { a.norm_lanes = 0; }},
      {"clock 0", [](Architecture& a) { a.clock_mhz = 0; }},
      {"clock inf", [](Architecture& a) { a.clock_mhz = std::numeric_limits<double>::infinity(); }},
      {"clock nan", [](Architecture& a) { a.clock_mhz = std::numeric_limits<double>::quiet_NaN(); }},
  };
  for (const Mistake& mistake : mistakes) {
    Architecture arch;
    mistake.make(arch);
    try {
      arch.check();
      ADD_FAILURE() << mistake.key << " is not refused";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).rfind(mistake.key, 0), 0U) << error.what();
    }
  }
}

// What a closed form takes may be too much to simulate: a width must fit an int, a buffer the memory.
TEST(Architecture, NamesWhatCannotBeSimulated) {
  EXPECT_NO_THROW(Architecture().check_simulated());
  const auto refusal = [](const auto& change) {
    Architecture arch;
    change(arch);
    EXPECT_NO_THROW(arch.check());
    try {
      arch.check_simulated();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      refusal([](Architecture& arch) { arch.port = 65535, arch.rows = 256; }).find("port * rows = 16776960 "),
      0);
  EXPECT_EQ(refusal([](Architecture& arch) { arch.rows = 4096, arch.cols = 4096; }).find("rows * cols = "),
            0);
  EXPECT_EQ(refusal([](Architecture& arch) {
              arch.depth = 1024, arch.window = 65535;
            }).find("depth * window * rows"),
            0);
  EXPECT_EQ(refusal([](Architecture& arch) { arch.a_buffer_bytes = std::int64_t{1} << 40; }).find("a_buffer"),
            0);
  EXPECT_EQ(refusal([](Architecture& arch) { arch.b_buffer_bytes = std::int64_t{1} << 40; }).find("b_buffer"),
            0);
}

TEST(Architecture, DataflowsHaveNames) {
  for (const char* name : {"os-skip", "scalesim-ws", "scalesim-is", "scalesim-os", "stonne-os"}) {
    EXPECT_EQ(name_of(parse_dataflow(name)), name);
  }
  EXPECT_THROW(parse_dataflow("os"), std::invalid_argument);
  EXPECT_THROW(parse_dataflow(""), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
