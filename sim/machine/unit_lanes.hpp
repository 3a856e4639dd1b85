// Units of one kind side by side, each in its slot.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/machine/unit_slot.hpp"

namespace mantissa {

class UnitLanes {
 public:
  struct Kind {
    std::string name;
    std::function<std::unique_ptr<UnitModule>(const char* name)> systemc;
    CachedFilePointer rtl = {};  // none: the engine is systemc
    // What is compared in lockstep, in this order.
    std::vector<UnitSlot::Watched> watched = {};
  };
  // Inside of a module's constructor, as UnitSlot.
  UnitLanes(Engine engine, Kind kind, std::int64_t lanes);

  const std::string& name() const { return kind_.name; }
  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
  UnitSlot& lane(std::int64_t index) { return *slots_[index]; }

  // What is below is done to the first lanes; the others stand still.
  void use(std::int64_t lanes) { in_use_ = lanes; }
  void clock(bool level);
  void reset(bool active);
  void offer(bool valid);
  void take(bool ready);
  // The first lane in which SystemC and RTL differ.
  std::optional<Mismatch> compare();
  // Of the last difference.
  std::int64_t different_lane() const { return different_lane_; }

 private:
  Kind kind_;
  std::vector<std::unique_ptr<UnitSlot>> slots_;
  std::int64_t in_use_;
  std::int64_t different_lane_ = 0;
};

}  // namespace mantissa
