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
      {"a_buffer_bytes 0", [](Architecture& a) { a.a_buffer_bytes = 0; }},
      {"b_buffer_bytes -5", [](Architecture& a) { a.b_buffer_bytes = -5; }},
      {"dram_latency_cycles -1", [](Architecture& a) { a.dram_latency_cycles = -1; }},
      {"dram_burst_bytes 0", [](Architecture& a) { a.dram_burst_bytes = 0; }},
      {"dram_burst_cycles 0", [](Architecture& a) { a.dram_burst_cycles = 0; }},
      {"norm_lanes 0", [](Architecture& a) { a.norm_lanes = 0; }},
      {"clock_mhz 0", [](Architecture& a) { a.clock_mhz = 0; }},
      {"clock_mhz inf", [](Architecture& a) { a.clock_mhz = std::numeric_limits<double>::infinity(); }},
      {"clock_mhz nan", [](Architecture& a) { a.clock_mhz = std::numeric_limits<double>::quiet_NaN(); }},
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

TEST(Architecture, DataflowsHaveNames) {
  for (const char* name : {"os-skip", "scalesim-ws", "scalesim-is", "scalesim-os", "stonne-os"}) {
    EXPECT_EQ(name_of(parse_dataflow(name)), name);
  }
  EXPECT_THROW(parse_dataflow("os"), std::invalid_argument);
  EXPECT_THROW(parse_dataflow(""), std::invalid_argument);
}

}  // namespace
}  // namespace mantissa
