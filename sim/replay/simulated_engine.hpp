// Engines that simulate the accelerator cycle by cycle, in SystemC, as Verilated RTL, or both in lockstep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/replay/engine.hpp"

namespace mantissa::replay {

struct EngineOptions {
  std::string name = "fast";  // fast, systemc, rtl, lockstep
  std::uint64_t sample = 0;   // tiles per layer and pass; 0: all, 1..3 are taken as 4.
                              // Of batch norms groups of channels, 2 at least
  std::string rtl = {};       // directory of the RTL; empty: ours
  std::string wave = {};   // where a lockstep run that finds a difference writes its waveform; empty: nowhere
  std::string again = {};  // the command that repeats this run, for the message of a difference
};

// Throws std::invalid_argument for a name that is none.
std::unique_ptr<Engine> make_engine(const EngineOptions& options);

}  // namespace mantissa::replay
