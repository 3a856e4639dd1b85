// The RTL of one unit, compiled for a machine.
#pragma once

#include <filesystem>
#include <string>

#include "sim/dut/verilator.hpp"
#include "sim/units/unit_parameters.hpp"

namespace mantissa {

// The sources of this project, unless there is another directory with files of the same names. Compiled
// units are cached.
CompiledDevice compile_unit(const std::string& name, const UnitParameters& parameters,
                            const std::filesystem::path& rtl_directory = {}, bool wave = false);

}  // namespace mantissa
