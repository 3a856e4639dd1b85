// The names and parameters of the batch norm units, and their RTL.
#pragma once

#include <filesystem>
#include <string>

#include "sim/dut/verilator.hpp"
#include "sim/machine/norm_job.hpp"

namespace mantissa {

// The unit's name, in SystemC and as an RTL module.
std::string norm_unit_name(NormDirection direction);

// What the units' counters need, and no less than the RTL's default: one compiled unit does for most.
int norm_index_bits(const NormSize& size);

// As compile_unit, which has the directory.
CompiledDevice compile_norm_unit(NormDirection direction, int index_bits,
                                 const std::filesystem::path& rtl_directory = {}, bool wave = false);

}  // namespace mantissa
