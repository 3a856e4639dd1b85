// The weight_update units of the second machine, and the lanes that they are in an update.
#pragma once

#include <filesystem>
#include <optional>

#include "models/quantize/rounding_draws.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/machine/stream_lanes.hpp"
#include "sim/machine/update_job.hpp"

namespace mantissa {

// The unit compiled as RTL; as compile_unit, which has the directory.
CompiledDevice compile_update_unit(Rounding rounding, const std::filesystem::path& rtl_directory = {},
                                   bool wave = false);
// For one rounding of the weights. Throws what compiling RTL throws.
UnitLanes::Kind update_units(Engine engine, Rounding rounding, const std::filesystem::path& rtl_directory);

// Of one job, which is kept as a reference.
class UpdateLanes : public UnitStreamLanes {
 public:
  UpdateLanes(UnitLanes& units, const UpdateJob& job);

  void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) override;
  void result(std::int64_t lane, std::int64_t element, std::span<std::uint32_t> outputs) override;

 private:
  void write_registers(std::int64_t lane);
  std::uint32_t operand_of(std::uint32_t weight);

  const UpdateJob& job_;
  RoundingDraws draws_;
  RoundingDraws operand_draws_;
};

}  // namespace mantissa
