#include "sim/machine/rtl_unit.hpp"

namespace mantissa {

namespace fs = std::filesystem;

CompiledDevice compile_unit(const std::string& name, const UnitParameters& parameters,
                            const fs::path& rtl_directory, bool wave) {
  const fs::path directory = rtl_directory.empty() ? fs::path(MANTISSA_RTL_DIR) : rtl_directory;
  VerilatorJob job;
  job.top = name;
  job.files = {directory / "simulation.vlt", directory / "mantissa_pkg.sv", directory / (job.top + ".sv")};
  job.library_dirs = {directory};
  job.wave = wave;
  job.closed = true;
  for (const auto& [parameter, value] : parameters.values())
    job.parameters.emplace_back(parameter, std::to_string(value));
  return verilate(job);
}

}  // namespace mantissa
