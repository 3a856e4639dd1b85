// What stands in the lanes of a stream, as its controller sees it (ARITHMETIC.md 7, "Streams").
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sim/machine/unit_lanes.hpp"

namespace mantissa {

class StreamLanes {
 public:
  virtual ~StreamLanes() = default;
  StreamLanes() = default;
  StreamLanes(const StreamLanes&) = delete;
  StreamLanes& operator=(const StreamLanes&) = delete;

  virtual std::string name() const = 0;
  // An element on the inputs of a lane, once: as it lies in the buffers, one number per input tensor.
  // Elements come in ascending order.
  virtual void feed(std::int64_t lane, std::int64_t element, std::span<const std::uint32_t> inputs) = 0;
  // What the lane shows becomes an element of the outputs. In ascending order, too.
  virtual void result(std::int64_t lane, std::int64_t element, std::span<std::uint32_t> outputs) = 0;

  virtual void offer(std::int64_t lane, bool valid) = 0;
  virtual bool ready(std::int64_t lane) = 0;
  virtual bool valid(std::int64_t lane) = 0;
};

// Lanes of units.
class UnitStreamLanes : public StreamLanes {
 public:
  explicit UnitStreamLanes(UnitLanes& units) : units_(units) {}
  std::string name() const override { return units_.name(); }
  void offer(std::int64_t lane, bool valid) override {
    units_.lane(lane).offer(valid);
    units_.lane(lane).take(true);
  }
  bool ready(std::int64_t lane) override { return units_.lane(lane).ready(); }
  bool valid(std::int64_t lane) override { return units_.lane(lane).valid(); }

 protected:
  UnitLanes& units() { return units_; }
  void write(std::int64_t lane, int port, std::uint64_t value) {
    UnitSlot& unit = units_.lane(lane);
    unit.write(port, Bits(unit.width(port), value));
  }

 private:
  UnitLanes& units_;
};

}  // namespace mantissa
