#include "sim/machine/block_array_slot.hpp"

#include <algorithm>

#include "sim/machine/rtl_array.hpp"
#include "sim/machine/rtl_unit.hpp"

namespace mantissa {

std::string block_array_name(const ArrayFormats& formats) {
  return formats.integers() ? "int_block_array" : "block_array";
}

UnitParameters block_array_parameters(const Architecture& arch, const ArrayFormats& formats) {
  const UnitParameters size = {{"Rows", arch.rows},     {"Cols", arch.cols},
                               {"Window", arch.window}, {"Depth", arch.depth},
                               {"Port", arch.port},     {"SumRows", std::min(arch.sum_rows, arch.rows)}};
  if (formats.integers()) {
    return size.with(
        {{"ABits", formats.a.bits()}, {"BBits", formats.b.bits()}, {"AccBits", formats.sum_bits()}});
  }
  return operand_formats(formats.a.format(), formats.b.format())
      .with(size)
      .with({{"AccExp", formats.accumulator.exponent_bits}, {"AccMan", formats.accumulator.mantissa_bits}});
}

CompiledDevice compile_block_array(const Architecture& arch, const ArrayFormats& formats,
                                   const std::filesystem::path& rtl_directory, bool wave) {
  if (formats.integers()) {
    check_rtl_operands(arch, {});
  } else {
    const Format operands[] = {formats.a.format(), formats.b.format()};
    check_rtl_operands(arch, operands);
  }
  return compile_unit(block_array_name(formats), block_array_parameters(arch, formats), rtl_directory, wave);
}

namespace {

std::unique_ptr<Device> load_block_array(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                                         const std::filesystem::path& rtl_directory) {
  if (engine == Engine::systemc) return nullptr;
  return std::make_unique<Device>(compile_block_array(arch, formats, rtl_directory).object);
}

std::unique_ptr<OperandArray> make_systemc_block_array(const Architecture& arch,
                                                       const ArrayFormats& formats) {
  const char* name = sc_core::sc_gen_unique_name(block_array_name(formats).c_str());
  const UnitParameters parameters = block_array_parameters(arch, formats);
  return formats.integers() ? make_int_block_array_unit(name, parameters)
                            : make_block_array_unit(name, parameters);
}

}  // namespace

// In braces, as in ArraySlot: what can fail comes before the first module.
BlockArraySlot::BlockArraySlot(const Architecture& arch, const ArrayFormats& formats, Engine engine,
                               const std::filesystem::path& rtl_directory)
    : BlockArraySlot{engine, block_array_name(formats), arch.skip_window(true),
                     load_block_array(arch, formats, engine, rtl_directory),
                     make_systemc_block_array(arch, formats)} {}

BlockArraySlot::BlockArraySlot(Engine engine, const std::string& name, const SkipWindow& array,
                               std::unique_ptr<Device> device, std::unique_ptr<OperandArray> unit)
    : systemc_(engine == Engine::rtl ? nullptr : unit.get()),
      watch_(array),
      slot_(engine, name, std::move(device), std::move(unit), false) {
  constexpr const char* names[] = {"sum_o", "last_o", "suppressed_o", "overflow_o"};
  for (int port = 0; port < output_count; ++port) {
    place_[port] = slot_.find_output(names[port]);
    if (place_[port] < 0) continue;
    watched_.push_back({.output = place_[port], .stage = port == sums ? "accumulate" : ""});
  }
}

}  // namespace mantissa
