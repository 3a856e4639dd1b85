// What the ports of lowering_unit carry: a run's set-up, and the addresses of a beat.
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "models/mac/lowering_unit.hpp"
#include "sim/dut/bits.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

struct LoweringPorts {
  // In order.
  enum Input {
    used,
    line,
    y,
    element,
    x,
    line_steps,
    y_steps,
    element_steps,
    x_steps,
    inner_last,
    middle_first,
    middle_last,
    height,
    width,
    length,
    input_count
  };
  enum Output { count, last, read, line_out, element_out, output_count };

  LoweringUnitSize size;

  explicit LoweringPorts(const LoweringUnitSize& unit_size) : size(unit_size) {}
  explicit LoweringPorts(const UnitParameters& parameters)
      : size{.lanes = parameters.at("Lanes"),
             .window = parameters.at("Window"),
             .port = parameters.at("Port"),
             .line_bits = parameters.at("LineBits"),
             .element_bits = parameters.at("ElementBits"),
             .length_bits = parameters.at("LengthBits")} {}
  UnitParameters parameters() const {
    return {{"Lanes", size.lanes},
            {"Window", size.window},
            {"Port", size.port},
            {"LineBits", size.line_bits},
            {"ElementBits", size.element_bits},
            {"LengthBits", size.length_bits}};
  }

  int width_of(Input port) const;
  int width_of(Output port) const;

  // All inputs, in order, and back.
  std::vector<Bits> inputs(const LoweringSetup& setup) const;
  LoweringSetup setup(std::span<const Bits> inputs) const;

  // All outputs of the beat that the unit is in.
  std::vector<Bits> outputs(const LoweringUnit& unit) const;
  // One address of them, for who reads many.
  LoweringUnit::Address address(const Bits& reads, const Bits& lines, const Bits& elements, int slice,
                                int lane) const {
    const int at = slice * size.lanes + lane;
    if ((reads.words()[at / 32] >> (at % 32) & 1) == 0) return {};
    return {true, number(lines, at, size.line_bits), number(elements, at, size.element_bits)};
  }

 private:
  static std::uint32_t number(const Bits& bits, int index, int width) {
    return width == 32 ? bits.words()[index] : static_cast<std::uint32_t>(bits.field(index * width, width));
  }
  static void set_number(Bits& bits, int index, int width, std::uint32_t value) {
    if (width == 32) {
      bits.words()[index] = value;
    } else {
      bits.set_field(index * width, width, value);
    }
  }
};

}  // namespace mantissa
