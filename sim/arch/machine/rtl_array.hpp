// mac_array's parameters for a machine, and the RTL compiled for them.
#pragma once

#include <filesystem>

#include "sim/arch/architecture.hpp"
#include "sim/arch/array_job.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/units/mac_array.hpp"

namespace mantissa {

UnitParameters array_parameters(const Architecture& arch, const ArrayFormats& formats);
MacArrayOptions array_options(const Architecture& arch);

// Throws std::invalid_argument that says what the RTL array has, for what it does not have.
void check_rtl_array(const Architecture& arch, const ArrayFormats& formats);

// The sources of this project, unless there is another directory with files of the same names. Compiled
// arrays are cached.
CompiledDevice compile_array(const Architecture& arch, const ArrayFormats& formats,
                             const std::filesystem::path& rtl_directory = {}, bool wave = false);

}  // namespace mantissa
