// The places of the second machine's address generators: a lowering_unit with a lane for each row of A, and
// one with a lane for each column of B.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "sim/arch/architecture.hpp"
#include "sim/dut/verilator.hpp"
#include "sim/machine/unit_slot.hpp"
#include "sim/units/lowering_ports.hpp"

namespace mantissa {

// The unit that this machine has for so many rows or columns. Its numbers are wide enough for any tensor.
LoweringUnitSize lowering_unit_size(const Architecture& arch, int lanes);
// As compile_unit.
CompiledDevice compile_lowering_unit(const Architecture& arch, int lanes,
                                     const std::filesystem::path& rtl_directory = {}, bool wave = false);

// One of them.
class LoweringSlot {
 public:
  // Inside of a module's constructor, as UnitSlot.
  LoweringSlot(Engine engine, const LoweringUnitSize& size, std::unique_ptr<Device> device);

  void set_up(const LoweringSetup& setup);
  const LoweringUnitSize& size() const { return ports_.size; }

  // The beat that is shown, while `slot().valid()`.
  int count() const { return static_cast<int>(slot_.output(LoweringPorts::count).value()); }
  bool last() const { return slot_.output(LoweringPorts::last).value() != 0; }
  LoweringUnit::Address address(int slice, int lane) const {
    return ports_.address(slot_.output(LoweringPorts::read), slot_.output(LoweringPorts::line_out),
                          slot_.output(LoweringPorts::element_out), slice, lane);
  }

  std::optional<Mismatch> compare() const;
  UnitSlot& slot() { return slot_; }
  const UnitSlot& slot() const { return slot_; }

 private:
  LoweringPorts ports_;
  UnitSlot slot_;
};

// Their RTL, for the engines that have it.
struct LoweringDevices {
  std::unique_ptr<Device> a;
  std::unique_ptr<Device> b;
};
// Throws what compile_unit throws.
LoweringDevices load_lowering(const Architecture& arch, Engine engine,
                              const std::filesystem::path& rtl_directory);

// Both, which go together.
class LoweringSlots {
 public:
  // Inside of a module's constructor.
  LoweringSlots(const Architecture& arch, Engine engine, LoweringDevices devices);

  LoweringSlot& a() { return a_; }
  LoweringSlot& b() { return b_; }
  const LoweringSlot& a() const { return a_; }
  const LoweringSlot& b() const { return b_; }

  void clock(bool level);
  void reset(bool active);
  void offer(bool valid);
  void take(bool ready);
  bool ready() const { return a_.slot().ready() && b_.slot().ready(); }
  bool valid() const { return a_.slot().valid() && b_.slot().valid(); }
  // The first one in which SystemC and RTL differ.
  std::optional<Mismatch> compare();
  LoweringSlot& different() { return *different_; }

 private:
  LoweringSlot a_;
  LoweringSlot b_;
  LoweringSlot* different_ = nullptr;
};

}  // namespace mantissa
