// What the ports of zero_packer and zero_unpacker carry: codes of up to `lanes` elements, lane 0 lowest.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "models/compress/packed_line.hpp"
#include "sim/dut/bits.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct PackedPorts {
  int lanes = 0;
  LineCode code;

  explicit PackedPorts(const UnitParameters& parameters)
      : lanes(parameters.at("Lanes")), code{parameters.at("Width"), parameters.at("NegativeZero") != 0} {}

  int codes_width() const { return lanes * code.bits; }
  int count_width() const { return std::bit_width(static_cast<unsigned>(lanes)); }  // of 0..lanes

  Bits codes(const std::vector<std::uint8_t>& values) const {
    Bits bits(codes_width());
    bits.set_fields(0, code.bits, values);
    return bits;
  }
  std::vector<std::uint8_t> codes(const Bits& bits, std::uint64_t count) const {
    std::vector<std::uint8_t> values(count);
    bits.fields(0, code.bits, values);
    return values;
  }
  Bits count(std::uint64_t value) const { return {count_width(), value}; }
  Bits mask(const std::vector<bool>& values) const {
    Bits bits(lanes);
    for (std::size_t i = 0; i < values.size(); ++i) bits.set_field(static_cast<int>(i), 1, values[i] ? 1 : 0);
    return bits;
  }
};

}  // namespace mantissa
