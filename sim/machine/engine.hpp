// Who computes a GEMM or a Range BN: all give the same bits and the same cycles, at different speed.
#pragma once

#include <cstdint>
#include <string_view>

namespace mantissa {

enum class Engine : std::uint8_t {
  fast,      // vectorised golden kernels and the closed form
  systemc,   // the accelerator cycle by cycle
  rtl,       // the same with the Verilated units in it
  lockstep,  // with both kinds of units side by side, every output of every cycle compared
};

Engine parse_engine(std::string_view text);  // throws std::invalid_argument with those that exist
std::string_view name_of(Engine engine);

}  // namespace mantissa
