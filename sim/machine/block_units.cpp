#include "sim/machine/block_units.hpp"

#include <stdexcept>
#include <utility>

#include "sim/machine/rtl_unit.hpp"

namespace mantissa {
namespace {

// Integers are not packed.
bool packs(const Architecture& arch, const ArrayFormats& formats) {
  return arch.gradient_storage == GradientStorage::packed && formats.a.is_code();
}

// Compiles the RTL of an unpacker while nothing has been made yet.
const Architecture& with_unpacker(const Architecture& arch, const ArrayFormats& formats,
                                  const AcceleratorOptions& options) {
  if (packs(arch, formats) && options.engine != Engine::systemc)
    compile_unit("zero_unpacker", unpacker_parameters(arch, formats.a.format()), options.rtl_directory);
  return arch;
}

}  // namespace

BlockUnits::BlockUnits(const Architecture& arch, const ArrayFormats& formats,
                       const AcceleratorOptions& options, LoweringDevices devices)
    : arch_(with_unpacker(arch, formats, options)),
      formats_(formats),
      array_(arch, formats, options.engine, options.rtl_directory),
      lowering_(arch, options.engine, std::move(devices)),
      statistics_size_(options.drain_statistics, arch.cols),
      statistics_(make_statistics_units(options.engine, statistics_size_,
                                        options.drain_statistics.channels > 0 ? arch.cols : 0,
                                        options.rtl_directory)) {
  if (packs(arch, formats)) {
    unpacker_ = std::make_unique<LineUnpacker>("unpacker", arch, formats.a.format(), options.engine,
                                               options.rtl_directory);
  }
}

void BlockUnits::reset(bool active) {
  lowering_.reset(active);
  array_.reset(active);
  statistics_.reset(active);
  if (unpacker_) unpacker_->reset(active);
}

// In the order of the data: what is wrong in one unit is wrong in those behind it.
std::optional<Mismatch> BlockUnits::compare() {
  differs_ = Unit::unpacker;
  if (unpacker_ && unpacker_->compare()) return unpacker_->compare();
  differs_ = Unit::addresses;
  if (std::optional<Mismatch> mismatch = lowering_.compare()) return mismatch;
  differs_ = Unit::array;
  if (std::optional<Mismatch> mismatch = array_.compare()) return mismatch;
  differs_ = Unit::statistics;
  return statistics_.compare();
}

std::string BlockUnits::different() const {
  switch (differs_) {
    case Unit::unpacker:
      return "zero_unpacker";
    case Unit::addresses:
      return "lowering_unit";
    case Unit::array:
      return block_array_name(formats_);
    case Unit::statistics:
      return statistics_.name() + ", lane " + std::to_string(statistics_.different_lane());
  }
  throw std::logic_error("no such unit");
}

std::unique_ptr<UnitRecording> BlockUnits::record(const std::filesystem::path& rtl_directory,
                                                  const std::filesystem::path& wave) {
  const auto recording = [&wave](UnitSlot& slot, const CompiledDevice& device) {
    return std::make_unique<UnitRecording>(slot, device.object, wave);
  };
  switch (differs_) {
    case Unit::unpacker:
      return recording(unpacker_->slot(),
                       compile_unit("zero_unpacker", unpacker_->parameters(), rtl_directory, true));
    case Unit::addresses: {
      LoweringSlot& slot = lowering_.different();
      return recording(slot.slot(), compile_lowering_unit(arch_, slot.size().lanes, rtl_directory, true));
    }
    case Unit::array:
      return recording(array_.slot(), compile_block_array(arch_, formats_, rtl_directory, true));
    case Unit::statistics:
      return recording(statistics_.lane(statistics_.different_lane()),
                       compile_statistics_unit(statistics_size_, rtl_directory, true));
  }
  throw std::logic_error("no such unit");
}

}  // namespace mantissa
