#include "sim/machine/block_units.hpp"

namespace mantissa {

// Addresses first: what is wrong in them is wrong in what follows.
std::optional<Mismatch> BlockUnits::compare() {
  std::optional<Mismatch> mismatch = lowering_.compare();
  addresses_differ_ = mismatch.has_value();
  return addresses_differ_ ? mismatch : array_.compare();
}

std::unique_ptr<UnitRecording> BlockUnits::record(const std::filesystem::path& rtl_directory,
                                                  const std::filesystem::path& wave) {
  if (!addresses_differ_) {
    return std::make_unique<UnitRecording>(
        array_.slot(), compile_block_array(arch_, formats_, rtl_directory, true).object, wave);
  }
  LoweringSlot& slot = lowering_.different();
  return std::make_unique<UnitRecording>(
      slot.slot(), compile_lowering_unit(arch_, slot.size().lanes, rtl_directory, true).object, wave);
}

}  // namespace mantissa
