#include "sim/machine/norm_units.hpp"

#include <algorithm>
#include <utility>

#include "sim/machine/rtl_norm.hpp"
#include "sim/units/range_bn_codes.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {

// Both units have four outputs: what a result is comes before its numbers.
UnitLanes::Kind norm_unit_kind(NormDirection direction, int index_bits, Engine engine,
                               const std::filesystem::path& rtl_directory) {
  const auto make = [=](const char* name) {
    const UnitParameters parameters{{"IndexBits", index_bits}};
    return direction == NormDirection::forward ? make_range_bn_forward(name, parameters)
                                               : make_range_bn_backward(name, parameters);
  };
  return {.name = norm_unit_name(direction),
          .systemc = make,
          .rtl = engine == Engine::systemc ? nullptr
                                           : compile_norm_unit(direction, index_bits, rtl_directory).object,
          .watched = {{0, "result"}, {1, "result"}, {2, "result"}, {3, "result"}}};
}

// What can fail comes before the first module: SystemC does not take one back.
NormUnits::NormUnits(const Architecture& arch, const NormSize& size, Engine engine,
                     const std::filesystem::path& rtl_directory)
    : NormUnits(std::min<std::int64_t>(arch.norm_lanes, size.channels), norm_index_bits(size), engine,
                norm_unit_kind(NormDirection::forward, norm_index_bits(size), engine, rtl_directory),
                norm_unit_kind(NormDirection::backward, norm_index_bits(size), engine, rtl_directory)) {}

NormUnits::NormUnits(std::int64_t lanes, int index_bits, Engine engine, UnitLanes::Kind forward,
                     UnitLanes::Kind backward)
    : index_bits_(index_bits),
      forward_(engine, std::move(forward), lanes),
      backward_(engine, std::move(backward), lanes) {}

void NormUnits::select(NormDirection direction, std::int64_t lanes) {
  direction_ = direction;
  selected_ = direction == NormDirection::forward ? &forward_ : &backward_;
  selected_->use(lanes);
}

// By what the SystemC unit says that the result is.
std::string NormUnits::stage(const UnitSlot& slot) const {
  if (direction_ == NormDirection::backward)
    return slot.output(NormBackwardPorts::gradients).value() != 0 ? "sums" : "dx";
  switch (static_cast<BnKind>(slot.output(NormForwardPorts::kind).value())) {
    case BnKind::indices:
      return "indices";
    case BnKind::saved:
      return "statistics";
    case BnKind::element:
      return "normalise";
  }
  return "unknown kind";  // of a faulty unit
}

std::optional<Mismatch> NormUnits::compare() {
  std::optional<Mismatch> mismatch = selected_->compare();
  if (mismatch && !mismatch->stage.empty()) mismatch->stage = stage(lane(different_lane()));
  return mismatch;
}

}  // namespace mantissa
