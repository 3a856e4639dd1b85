// The parameters of mac_array or int_array for a machine, the SystemC unit with them, and the RTL.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "sim/arch/architecture.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/machine/array_job.hpp"
#include "sim/units/array_unit.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The unit's name, in SystemC and as an RTL module.
std::string array_name(const ArrayFormats& formats);
UnitParameters array_parameters(const Architecture& arch, const ArrayFormats& formats);
std::unique_ptr<ArrayUnit> make_systemc_array(const Architecture& arch, const ArrayFormats& formats);

// Throws std::invalid_argument for widths of integers that no array has.
void check_array(const Architecture& arch, const ArrayFormats& formats);

// Throws std::invalid_argument that says what the RTL arrays have, for what they do not have: of operands,
// which all take in the same way, and of the rest.
void check_rtl_operands(const Architecture& arch, std::span<const Format> formats);
void check_rtl_array(const Architecture& arch, const ArrayFormats& formats);

// As compile_unit, which has the directory. Throws what check_rtl_array throws.
CompiledDevice compile_array(const Architecture& arch, const ArrayFormats& formats,
                             const std::filesystem::path& rtl_directory = {}, bool wave = false);

}  // namespace mantissa
