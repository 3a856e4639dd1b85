#include "sim/machine/rtl_unit.hpp"

namespace mantissa {

CompiledDevice compile_unit(const std::string& name, const UnitParameters& parameters,
                            const std::filesystem::path& rtl_directory, bool wave) {
  VerilatorJob job = unit_job(name, parameters.values(), rtl_directory);
  job.wave = wave;
  job.closed = true;
  return verilate(job);
}

}  // namespace mantissa
