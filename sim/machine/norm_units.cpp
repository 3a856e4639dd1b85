#include "sim/machine/norm_units.hpp"

#include <algorithm>
#include <array>

#include "sim/machine/rtl_norm.hpp"
#include "sim/units/range_bn_codes.hpp"
#include "sim/units/unit_makers.hpp"

namespace mantissa {
namespace {

std::unique_ptr<UnitModule> make_systemc(NormDirection direction, int index_bits) {
  const UnitParameters parameters{{"IndexBits", index_bits}};
  const char* name = sc_core::sc_gen_unique_name(norm_unit_name(direction).c_str());
  return direction == NormDirection::forward ? make_range_bn_forward(name, parameters)
                                             : make_range_bn_backward(name, parameters);
}

// Both units have four outputs: what a result is comes before its numbers.
std::array<UnitSlot::Watched, 4> all_outputs() {
  return {{{0, "result"}, {1, "result"}, {2, "result"}, {3, "result"}}};
}

}  // namespace

NormUnits::NormUnits(const Architecture& arch, const NormSize& size, Engine engine,
                     const std::filesystem::path& rtl_directory)
    : index_bits_(norm_index_bits(size)) {
  const std::int64_t lanes = std::min<std::int64_t>(arch.norm_lanes, size.channels);
  // What can fail comes before the first module: SystemC does not take one back.
  CachedFilePointer forward;
  CachedFilePointer backward;
  if (engine != Engine::systemc) {
    forward = compile_norm_unit(NormDirection::forward, index_bits_, rtl_directory).object;
    backward = compile_norm_unit(NormDirection::backward, index_bits_, rtl_directory).object;
  }
  build(NormDirection::forward, lanes, engine, forward, forward_);
  build(NormDirection::backward, lanes, engine, backward, backward_);
}

void NormUnits::build(NormDirection direction, std::int64_t lanes, Engine engine,
                      const CachedFilePointer& object, Slots& slots) {
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::unique_ptr<Device> device = object ? std::make_unique<Device>(object) : nullptr;
    slots.push_back(std::make_unique<UnitSlot>(engine, norm_unit_name(direction), std::move(device),
                                               make_systemc(direction, index_bits_)));
  }
}

void NormUnits::select(NormDirection direction, std::int64_t lanes) {
  direction_ = direction;
  selected_ = direction == NormDirection::forward ? &forward_ : &backward_;
  lanes_in_use_ = lanes;
}

void NormUnits::clock(bool level) {
  for (std::int64_t i = 0; i < lanes_in_use_; ++i) lane(i).clock(level);
}
void NormUnits::reset(bool active) {
  for (std::int64_t i = 0; i < lanes_in_use_; ++i) lane(i).reset(active);
}
void NormUnits::offer(bool valid) {
  for (std::int64_t i = 0; i < lanes_in_use_; ++i) lane(i).offer(valid);
}
void NormUnits::take(bool ready) {
  for (std::int64_t i = 0; i < lanes_in_use_; ++i) lane(i).take(ready);
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
  static const std::array<UnitSlot::Watched, 4> watched = all_outputs();
  for (std::int64_t i = 0; i < lanes_in_use_; ++i) {
    std::optional<Mismatch> mismatch = lane(i).compare(watched);
    if (!mismatch) continue;
    different_lane_ = i;
    if (!mismatch->stage.empty()) mismatch->stage = stage(lane(i));
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace mantissa
