#include "sim/replay/difference.hpp"

namespace mantissa::replay {

std::string again(const CheckOptions& options) {
  return options.again.empty() ? "" : "  again: " + options.again + "\n";
}

std::string lockstep_text(const LockstepDifference& difference, const std::string& what,
                          const std::string& job) {
  std::string text = "MISMATCH between SystemC and RTL in " + difference.unit + ", " + what + ", cycle " +
                     std::to_string(difference.mismatch.cycle) + " of the " + job + ": " +
                     difference.mismatch.what + "\n" + describe(difference.mismatch) + "  seed " +
                     std::to_string(difference.seed) + "\n";
  if (!difference.wave.empty()) text += "  waveform: " + difference.wave.string() + "\n";
  return text;
}

std::uint64_t patience(const GemmCycles& expected) {
  constexpr std::uint64_t times = 4;
  constexpr std::uint64_t at_least = 1000;
  return times * expected.cycles() + at_least;
}

std::string cost_text(const GemmCycles& expected, const GemmCycles& actual) {
  std::string text;
  const auto line = [&](const char* figure, std::uint64_t wanted, std::uint64_t got) {
    text += std::string("  ") + figure + ": expected " + std::to_string(wanted) + ", got " +
            std::to_string(got) + (wanted == got ? "\n" : "   <--\n");
  };
  line("compute cycles", expected.compute, actual.compute);
  line("load stalls", expected.stall_load, actual.stall_load);
  line("write-back stalls", expected.stall_write_back, actual.stall_write_back);
  line("drain stalls", expected.stall_drain, actual.stall_drain);
  line("DRAM bytes", expected.dram_bytes, actual.dram_bytes);
  line("SRAM bytes", expected.sram_bytes, actual.sram_bytes);
  line("MACs", expected.macs, actual.macs);
  line("skipped MACs", expected.skipped, actual.skipped);
  return text;
}

}  // namespace mantissa::replay
