// What the benches of zero_packer and zero_unpacker share.
#pragma once

#include <vector>

#include "models/compress/packed_beats.hpp"
#include "sim/stimulus/values.hpp"
#include "sim/units/packed_ports.hpp"
#include "sim/verify/unit_kind.hpp"

namespace mantissa::verify {

// The codes of line number `index`: corners first, then lengths and densities of every kind.
std::vector<std::uint8_t> packed_stimulus_line(std::uint64_t index, stimulus::Dice& dice,
                                               const PackedPorts& ports);
// A line cut into beats of `lanes`.
std::vector<DenseBeat> beats_of(const std::vector<std::uint8_t>& codes, int lanes);
// On a port: these, and anything in the lanes behind them.
Bits lanes_with_rest(stimulus::Dice& dice, const PackedPorts& ports, const std::vector<std::uint8_t>& codes);
Bits random_bits(stimulus::Dice& dice, int width);

// `second` says where the second register stands.
std::vector<ParameterNote> packed_parameters(const std::string& second);

}  // namespace mantissa::verify
