// The code that stands between a device's C ABI (dut_api.h) and the class that Verilator made of it.
#pragma once

#include <filesystem>
#include <string>

namespace mantissa {

// C++ source for the class in `verilated_header`, the text of Vdut.h. Throws std::invalid_argument for a port
// that the ABI has no place for.
std::string device_shim(const std::string& verilated_header, const std::filesystem::path& api_header,
                        bool wave, bool coverage);

}  // namespace mantissa
