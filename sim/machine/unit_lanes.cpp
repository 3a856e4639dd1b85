#include "sim/machine/unit_lanes.hpp"

#include <utility>

namespace mantissa {

UnitLanes::UnitLanes(Engine engine, Kind kind, std::int64_t lanes) : kind_(std::move(kind)), in_use_(lanes) {
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::unique_ptr<Device> device = kind_.rtl ? std::make_unique<Device>(kind_.rtl) : nullptr;
    slots_.push_back(
        std::make_unique<UnitSlot>(engine, kind_.name, std::move(device),
                                   kind_.systemc(sc_core::sc_gen_unique_name(kind_.name.c_str()))));
  }
}

void UnitLanes::clock(bool level) {
  for (std::int64_t i = 0; i < in_use_; ++i) lane(i).clock(level);
}
void UnitLanes::reset(bool active) {
  for (std::int64_t i = 0; i < in_use_; ++i) lane(i).reset(active);
}
void UnitLanes::offer(bool valid) {
  for (std::int64_t i = 0; i < in_use_; ++i) lane(i).offer(valid);
}
void UnitLanes::take(bool ready) {
  for (std::int64_t i = 0; i < in_use_; ++i) lane(i).take(ready);
}

std::optional<Mismatch> UnitLanes::compare() {
  for (std::int64_t i = 0; i < in_use_; ++i) {
    std::optional<Mismatch> mismatch = lane(i).compare(kind_.watched);
    if (!mismatch) continue;
    different_lane_ = i;
    return mismatch;
  }
  return std::nullopt;
}

}  // namespace mantissa
