#include "sim/units/lowering_ports.hpp"

namespace mantissa {
namespace {

using Member = std::uint32_t LoweringPlace::*;

// The ports that carry places: which part of them.
struct PlacePort {
  LoweringPorts::Input lanes;
  LoweringPorts::Input steps;
  Member member;
  bool of_lines;  // these have no inner step
};
constexpr PlacePort place_ports[] = {
    {LoweringPorts::line, LoweringPorts::line_steps, &LoweringPlace::line, true},
    {LoweringPorts::y, LoweringPorts::y_steps, &LoweringPlace::y, true},
    {LoweringPorts::element, LoweringPorts::element_steps, &LoweringPlace::element, false},
    {LoweringPorts::x, LoweringPorts::x_steps, &LoweringPlace::x, false}};

struct NumberPort {
  LoweringPorts::Input port;
  std::uint32_t LoweringSetup::*member;
};
constexpr NumberPort number_ports[] = {{LoweringPorts::inner_last, &LoweringSetup::inner_last},
                                       {LoweringPorts::middle_first, &LoweringSetup::middle_first},
                                       {LoweringPorts::middle_last, &LoweringSetup::middle_last},
                                       {LoweringPorts::height, &LoweringSetup::height},
                                       {LoweringPorts::width, &LoweringSetup::width},
                                       {LoweringPorts::length, &LoweringSetup::length}};

int first_step(const PlacePort& port) { return port.of_lines ? LoweringSetup::middle : LoweringSetup::inner; }

}  // namespace

int LoweringPorts::width_of(Input port) const {
  switch (port) {
    case used:
      return size.lanes;
    case line:
    case y:
      return size.lanes * size.line_bits;
    case element:
    case x:
      return size.lanes * size.element_bits;
    case line_steps:
    case y_steps:
      return 2 * size.line_bits;
    case element_steps:
    case x_steps:
      return 3 * size.element_bits;
    case inner_last:
    case width:
      return size.element_bits;
    case middle_first:
    case middle_last:
    case height:
      return size.line_bits;
    case length:
      return size.length_bits;
    case input_count:
      break;
  }
  return 0;
}

int LoweringPorts::width_of(Output port) const {
  switch (port) {
    case count:
      return std::bit_width(static_cast<unsigned>(size.port));
    case last:
      return 1;
    case read:
      return size.port * size.lanes;
    case line_out:
      return size.port * size.lanes * size.line_bits;
    case element_out:
      return size.port * size.lanes * size.element_bits;
    case output_count:
      break;
  }
  return 0;
}

std::vector<Bits> LoweringPorts::inputs(const LoweringSetup& setup) const {
  std::vector<Bits> bits(input_count);
  for (int port = 0; port < input_count; ++port) bits[port] = Bits(width_of(static_cast<Input>(port)));
  for (int lane = 0; lane < size.lanes; ++lane) {
    if (setup.lanes[lane].used) bits[used].flip(lane);
  }
  for (const PlacePort& port : place_ports) {
    const int width = port.of_lines ? size.line_bits : size.element_bits;
    for (int lane = 0; lane < size.lanes; ++lane)
      set_number(bits[port.lanes], lane, width, setup.lanes[lane].place.*port.member);
    for (int step = first_step(port); step < 3; ++step)
      set_number(bits[port.steps], step - first_step(port), width, setup.steps[step].*port.member);
  }
  for (const NumberPort& port : number_ports)
    bits[port.port].set_field(0, bits[port.port].width(), setup.*port.member);
  return bits;
}

LoweringSetup LoweringPorts::setup(std::span<const Bits> inputs) const {
  LoweringSetup setup;
  setup.lanes.resize(size.lanes);
  for (int lane = 0; lane < size.lanes; ++lane) setup.lanes[lane].used = inputs[used].bit(lane);
  for (const PlacePort& port : place_ports) {
    const int width = port.of_lines ? size.line_bits : size.element_bits;
    for (int lane = 0; lane < size.lanes; ++lane)
      setup.lanes[lane].place.*port.member = number(inputs[port.lanes], lane, width);
    for (int step = first_step(port); step < 3; ++step)
      setup.steps[step].*port.member = number(inputs[port.steps], step - first_step(port), width);
  }
  for (const NumberPort& port : number_ports)
    setup.*port.member = static_cast<std::uint32_t>(inputs[port.port].value());
  return setup;
}

std::vector<Bits> LoweringPorts::outputs(const LoweringUnit& unit) const {
  std::vector<Bits> bits(output_count);
  for (int port = 0; port < output_count; ++port) bits[port] = Bits(width_of(static_cast<Output>(port)));
  bits[count].set_field(0, bits[count].width(), static_cast<std::uint64_t>(unit.count()));
  bits[last].set_field(0, 1, unit.last() ? 1 : 0);
  for (int slice = 0; slice < unit.count(); ++slice) {
    for (int lane = 0; lane < size.lanes; ++lane) {
      const LoweringUnit::Address address = unit.address(slice, lane);
      if (!address.read) continue;
      const int at = slice * size.lanes + lane;
      bits[read].flip(at);
      set_number(bits[line_out], at, size.line_bits, address.line);
      set_number(bits[element_out], at, size.element_bits, address.element);
    }
  }
  return bits;
}

}  // namespace mantissa
