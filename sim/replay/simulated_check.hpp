// The cross-check by a simulated accelerator: in SystemC, as Verilated RTL, or both in lockstep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/replay/cross_check.hpp"

namespace mantissa::replay {

struct CheckOptions {
  std::string engine = "systemc";  // systemc, rtl, lockstep
  // Tiles per layer and pass, at least 4, or groups of channels of a batch norm, at least 2, or segments of
  // an update, the first ones; 0: all.
  std::uint64_t sample = 0;
  std::string rtl = {};    // directory of the RTL; empty: ours
  std::string wave = {};   // where a lockstep run that finds a difference writes its waveform; empty: nowhere
  std::string again = {};  // the command that repeats this run, for the message of a difference
};

// None for the engine `fast`, which is the golden kernels alone. Throws std::invalid_argument for an unknown
// engine.
std::unique_ptr<CrossCheck> make_cross_check(const CheckOptions& options);

}  // namespace mantissa::replay
